// ImageConversion: a tensor from a buffer into an image (Layout::NC4HW4) or back, on the device.
#pragma once

#include "engine/backend/vulkan/vulkan_execution.h"

namespace opkit::vulkan {

/// Records the conversion of `from` into the layout of `to`; one of them is an image.
Status encodeConversion(const Tensor& from, const Tensor& to, const DeviceCaps& caps, Encoder& encoder);

class ImageConversion final : public VulkanExecution {
 public:
  explicit ImageConversion(Backend& backend) : VulkanExecution(backend), caps_(backend.caps()) {}
  Status onEncode(TensorList inputs, TensorList outputs, Encoder& encoder) override {
    return encodeConversion(*inputs[0], *outputs[0], caps_, encoder);
  }

 private:
  DeviceCaps caps_;
};

}  // namespace opkit::vulkan
