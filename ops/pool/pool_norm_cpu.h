// LpPool on the CPU.
#pragma once

#include "engine/backend/creator.h"

namespace opkit::ops::pool {

/// LpPool of f32 and f64; sums in double.
Creator normPool();

}  // namespace opkit::ops::pool
