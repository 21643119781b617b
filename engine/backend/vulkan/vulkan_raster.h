// VulkanRaster: carries out regions on the device with shaders/raster/raster.comp, or a plain copy for a run.
#pragma once

#include "engine/backend/vulkan/raster_batch.h"

namespace opkit::vulkan {

/// True if the regions concatenate input images along the channels, in whole texels.
bool joinsChannels(const RegionList& regions, const CreateArgs& args);

class VulkanRaster final : public RasterExecution {
 public:
  explicit VulkanRaster(Backend& backend) : kernel_(backend) {}

  void setRegions(RegionList regions) override { kernel_.list = std::move(regions); }
  Result<size_t> scratchBytes(TensorList inputs, TensorList outputs) override {
    return kernel_.scratchBytes(inputs, outputs);
  }
  Status onResize(TensorList inputs, TensorList outputs) override { return kernel_.onResize(inputs, outputs); }
  Status onExecute(TensorList inputs, TensorList outputs) override { return kernel_.onExecute(inputs, outputs); }

 private:
  /// RasterExecution and VulkanExecution are both Executions, so one holds the other.
  struct Kernel final : VulkanExecution {
    using VulkanExecution::VulkanExecution;
    Status onEncode(TensorList inputs, TensorList outputs, Encoder& encoder) override;
    RegionList list;
  };
  Kernel kernel_;
};

}  // namespace opkit::vulkan
