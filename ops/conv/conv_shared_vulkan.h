// The convolution through tiles in shared memory, for device classes that have them (largestProductTile).
#pragma once

#include "engine/backend/creator.h"

namespace opkit::ops::conv {

/// 1x1 convolutions over any number of axes are products; others gather their input, over 1 or 2 axes.
Creator sharedCreator();

}  // namespace opkit::ops::conv
