// Convolution kernels over NC4HW4 images, for ops/conv/conv_vulkan.cpp.
#pragma once

#include "engine/backend/creator.h"

namespace opkit::ops::conv {

/// Dense convolution of one group with constant weights.
Creator imageCreator();
/// One input and one output channel per group, constant weights.
Creator depthwiseImageCreator();

}  // namespace opkit::ops::conv
