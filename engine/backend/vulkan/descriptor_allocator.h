// DescriptorAllocator: descriptor sets for one recording. Grows by whole pools and gives everything back at once.
#pragma once

#include <vector>

#include "engine/backend/vulkan/device.h"

namespace opkit::vulkan {

class DescriptorAllocator {
 public:
  explicit DescriptorAllocator(std::shared_ptr<Device> device) : device_(std::move(device)) {}

  /// A set of `layout`, which binds buffers.size() storage buffers, filled in.
  Result<VkDescriptorSet> allocate(VkDescriptorSetLayout layout, std::span<const VkDescriptorBufferInfo> buffers);

 private:
  Status addPool(uint32_t minimumDescriptors);

  std::shared_ptr<Device> device_;
  std::vector<Owned<VkDescriptorPool>> pools_;  // the last one is in use
  uint32_t setsLeft_ = 0;
  uint32_t descriptorsLeft_ = 0;
};

}  // namespace opkit::vulkan
