// ImageConversion: a tensor from a buffer into an image (Layout::NC4HW4) or back, on the device.
#pragma once

#include "engine/backend/vulkan/vulkan_execution.h"

namespace opkit::vulkan {

/// Records the conversion of `from` into the layout of `to`; one of them is an image.
Status encodeConversion(const Tensor& from, const Tensor& to, const DeviceCaps& caps, Encoder& encoder);

/// The kernel of Convert. `layout` of the Creator does not apply: the layouts are those of the tensors.
Creator conversionCreator();

}  // namespace opkit::vulkan
