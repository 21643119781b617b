// The direct Vulkan kernel for convolutions with one input channel per group, first in Conv's table.
#pragma once

#include "engine/backend/creator.h"

namespace opkit::ops::conv {

/// Refuses if a group has several input channels, weights are not constant, or there are 3 spatial axes.
Creator depthwiseCreator();

}  // namespace opkit::ops::conv
