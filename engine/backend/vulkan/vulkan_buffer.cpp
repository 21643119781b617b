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
  OPKIT_VK_CREATE(*device_, vk.vkCreateBuffer(device_->handle(), &info, nullptr, &handle), "creating a buffer");
  handle_ = Owned<VkBuffer>(*device_, handle, vk.vkDestroyBuffer);
  VkMemoryRequirements requirements;
  vk.vkGetBufferMemoryRequirements(device_->handle(), handle, &requirements);
  OPKIT_ASSIGN(memory_, device_->memory().allocate(use, requirements));
  return toStatus(vk.vkBindBufferMemory(device_->handle(), handle, memory_.memory(), memory_.offset()),
                  "binding device memory");
}

/// The buffer is destroyed before its memory.
VulkanBuffer::~VulkanBuffer() = default;

}  // namespace opkit::vulkan
