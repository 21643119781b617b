// The Scatter of loop regions on Vulkan, for VulkanLoop. Deterministic: no atomics on data.
//
// Replacing: each update claims its element in a table of owners, the last one wins (atomicMax of integers), then every
// element is taken from its owner or from the base. Combining: the updates are sorted by the element that they go to,
// then every element finds its updates and folds them in that order. Slices are one update where
// they begin at multiples of their length.
#pragma once

#include "engine/backend/vulkan/vulkan_execution.h"
#include "engine/op/loop_region.h"

namespace opkit::vulkan {

Status supportsScatter(const LoopRegion& loop, const CreateArgs& args);
Status encodeScatter(const LoopRegion& loop, TensorList inputs, const Tensor& output, Encoder& encoder,
                     const std::string& type);

}  // namespace opkit::vulkan
