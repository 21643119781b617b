// The plain convolution of the CPU backend, for f64.
#pragma once

#include "engine/backend/creator.h"

namespace opkit::ops::conv {

Creator columnsCreator();

}  // namespace opkit::ops::conv
