// The depthwise convolution through a patch of the input in shared memory, for device classes with largestProductTile.
#pragma once

#include "engine/backend/creator.h"

namespace opkit::ops::conv {

Creator depthwiseSharedCreator();

}  // namespace opkit::ops::conv
