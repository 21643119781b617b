#include "engine/backend/vulkan/descriptor_allocator.h"

#include <algorithm>

#include "engine/backend/vulkan/vulkan_status.h"

namespace opkit::vulkan {
namespace {

// A first pool fits one Execution of direct mode; later ones serve whole networks.
constexpr uint32_t kFirstSets = 8;
constexpr uint32_t kSets = 128;
constexpr uint32_t kDescriptorsPerSet = 4;

}  // namespace

VkDescriptorType descriptorType(Access access) {
  switch (access) {
    case Access::Texel: return VK_DESCRIPTOR_TYPE_UNIFORM_TEXEL_BUFFER;
    case Access::Image: return VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER;
    case Access::ImageWrite: return VK_DESCRIPTOR_TYPE_STORAGE_IMAGE;
    default: return VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
  }
}

Status DescriptorAllocator::addPool(uint32_t minimumDescriptors) {
  const uint32_t sets = pools_.empty() ? kFirstSets : kSets;
  const uint32_t descriptors = std::max(sets * kDescriptorsPerSet, minimumDescriptors);
  const VkDescriptorPoolSize sizes[] = {{VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, descriptors},
                                        {VK_DESCRIPTOR_TYPE_UNIFORM_TEXEL_BUFFER, descriptors},
                                        {VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER, descriptors},
                                        {VK_DESCRIPTOR_TYPE_STORAGE_IMAGE, descriptors}};
  VkDescriptorPoolCreateInfo info{VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO};
  info.maxSets = sets;
  info.poolSizeCount = static_cast<uint32_t>(std::size(sizes));
  info.pPoolSizes = sizes;
  VkDescriptorPool pool = VK_NULL_HANDLE;
  OPKIT_VK_CREATE(*device_, device_->vk().vkCreateDescriptorPool(device_->handle(), &info, nullptr, &pool),
                  "creating a descriptor pool");
  pools_.emplace_back(*device_, pool, device_->vk().vkDestroyDescriptorPool);
  setsLeft_ = sets;
  descriptorsLeft_ = descriptors;
  return Status::ok();
}

Result<VkDescriptorSet> DescriptorAllocator::allocate(VkDescriptorSetLayout layout,
                                                      std::span<const BufferBinding> bindings) {
  const auto count = static_cast<uint32_t>(bindings.size());
  if (setsLeft_ == 0 || descriptorsLeft_ < count) OPKIT_TRY(addPool(count));
  --setsLeft_;
  descriptorsLeft_ -= count;
  VkDescriptorSetAllocateInfo info{VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO};
  info.descriptorPool = pools_.back().get();
  info.descriptorSetCount = 1;
  info.pSetLayouts = &layout;
  VkDescriptorSet set = VK_NULL_HANDLE;
  OPKIT_VK_CREATE(*device_, device_->vk().vkAllocateDescriptorSets(device_->handle(), &info, &set),
                  "allocating a descriptor set");
  std::vector<VkWriteDescriptorSet> writes;
  for (uint32_t i = 0; i < count; ++i)
    writes.push_back({VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET, nullptr, set, i, 0, 1, bindings[i].type,
                      &bindings[i].image, &bindings[i].buffer, &bindings[i].view});
  device_->vk().vkUpdateDescriptorSets(device_->handle(), count, writes.data(), 0, nullptr);
  return set;
}

}  // namespace opkit::vulkan
