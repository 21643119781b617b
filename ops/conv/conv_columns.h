// The plain convolution of the CPU backend: any number of spatial axes, f32 and f64.
#pragma once

#include "engine/backend/creator.h"

namespace opkit::ops::conv {

/// For what the faster kernels refuse.
Creator columnsCreator();

}  // namespace opkit::ops::conv
