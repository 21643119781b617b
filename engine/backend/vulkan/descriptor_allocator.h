// DescriptorAllocator: descriptor sets for one recording. Grows by whole pools and frees everything at once.
#pragma once

#include <vector>

#include "engine/backend/vulkan/device.h"
#include "engine/backend/vulkan/shader_code.h"

namespace opkit::vulkan {

/// How the shader reads or writes a binding, as a kind of descriptor.
VkDescriptorType descriptorType(Access access);

/// The resource of one binding of a set.
struct BufferBinding {
  VkDescriptorType type = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
  VkDescriptorBufferInfo buffer{};
  VkBufferView view = VK_NULL_HANDLE;  // of texel buffers
  VkDescriptorImageInfo image{};       // of images
};

class DescriptorAllocator {
 public:
  explicit DescriptorAllocator(std::shared_ptr<Device> device) : device_(std::move(device)) {}

  /// A set of `layout`, which binds bindings.size() buffers of their kinds, filled in.
  Result<VkDescriptorSet> allocate(VkDescriptorSetLayout layout, std::span<const BufferBinding> bindings);

 private:
  Status addPool(uint32_t minimumDescriptors);

  std::shared_ptr<Device> device_;
  std::vector<Owned<VkDescriptorPool>> pools_;  // the last one is in use
  uint32_t setsLeft_ = 0;
  uint32_t descriptorsLeft_ = 0;
};

}  // namespace opkit::vulkan
