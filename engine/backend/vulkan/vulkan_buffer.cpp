#include "engine/backend/vulkan/vulkan_buffer.h"

#include "engine/backend/vulkan/vulkan_status.h"

namespace opkit::vulkan {
namespace {

constexpr size_t kGranularityBytes = 16;

}  // namespace

Result<std::shared_ptr<VulkanBuffer>> VulkanBuffer::create(std::shared_ptr<Device> device, size_t sizeBytes,
                                                           MemoryUse use) {
  if (sizeBytes > device->physical().maxAllocationBytes - kGranularityBytes)
    return Status::outOfMemory("vulkan: {} bytes exceed the {} that {} allocates at once", sizeBytes,
                               device->physical().maxAllocationBytes, device->physical().info.name);
  std::shared_ptr<VulkanBuffer> buffer(new VulkanBuffer(std::move(device), sizeBytes));
  OPKIT_TRY(buffer->allocate(use).withContext(fmt::format("allocating {} bytes", sizeBytes)));
  return buffer;
}

Status VulkanBuffer::allocate(MemoryUse use) {
  const VolkDeviceTable& vk = device_->vk();
  allocatedBytes_ = (sizeBytes() / kGranularityBytes + 1) * kGranularityBytes;
  VkBufferCreateInfo info{VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO};
  info.size = allocatedBytes_;
  info.usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_UNIFORM_TEXEL_BUFFER_BIT |
               VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT;
  VkBuffer handle = VK_NULL_HANDLE;
  OPKIT_VK(vk.vkCreateBuffer(device_->handle(), &info, nullptr, &handle), "creating a buffer");
  handle_ = Owned<VkBuffer>(*device_, handle, vk.vkDestroyBuffer);

  VkMemoryRequirements requirements;
  vk.vkGetBufferMemoryRequirements(device_->handle(), handle, &requirements);
  OPKIT_ASSIGN(const Device::MemoryType type, device_->memoryType(use, requirements.memoryTypeBits));
  VkMemoryAllocateInfo allocation{VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO};
  allocation.allocationSize = requirements.size;
  allocation.memoryTypeIndex = type.index;
  VkDeviceMemory memory = VK_NULL_HANDLE;
  OPKIT_VK(vk.vkAllocateMemory(device_->handle(), &allocation, nullptr, &memory), "allocating device memory");
  memory_ = Owned<VkDeviceMemory>(*device_, memory, vk.vkFreeMemory);
  OPKIT_VK(vk.vkBindBufferMemory(device_->handle(), handle, memory, 0), "binding device memory");
  if (!type.mapped) return Status::ok();
  void* mapped = nullptr;
  OPKIT_VK(vk.vkMapMemory(device_->handle(), memory, 0, VK_WHOLE_SIZE, 0, &mapped), "mapping device memory");
  mapped_ = static_cast<std::byte*>(mapped);
  return Status::ok();
}

/// The buffer goes before its memory; freeing the memory unmaps it.
VulkanBuffer::~VulkanBuffer() = default;

}  // namespace opkit::vulkan
