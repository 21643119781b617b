#include "engine/backend/vulkan/command_pool.h"

#include "engine/backend/vulkan/vulkan_status.h"

namespace opkit::vulkan {

Result<std::shared_ptr<CommandPool>> CommandPool::create(std::shared_ptr<Device> device) {
  std::shared_ptr<CommandPool> pool(new CommandPool(std::move(device)));
  const Device& owner = *pool->device_;
  VkCommandPoolCreateInfo info{VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO};
  info.queueFamilyIndex = owner.physical().computeFamily;
  VkCommandPool handle = VK_NULL_HANDLE;
  OPKIT_VK_CREATE(owner, owner.vk().vkCreateCommandPool(owner.handle(), &info, nullptr, &handle),
                  "creating a command pool");
  pool->handle_ = Owned<VkCommandPool>(owner, handle, owner.vk().vkDestroyCommandPool);
  return pool;
}

Result<CommandBuffer> CommandBuffer::create(std::shared_ptr<CommandPool> pool) {
  const Device& device = pool->device();
  VkCommandBufferAllocateInfo info{VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO};
  info.commandPool = pool->handle();
  info.level = VK_COMMAND_BUFFER_LEVEL_PRIMARY;
  info.commandBufferCount = 1;
  VkCommandBuffer handle = nullptr;
  OPKIT_VK_CREATE(device, device.vk().vkAllocateCommandBuffers(device.handle(), &info, &handle),
                  "allocating a command buffer");
  CommandBuffer buffer(std::move(pool), handle);
  const VkCommandBufferBeginInfo begin{VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
  OPKIT_VK(device.vk().vkBeginCommandBuffer(handle, &begin), "beginning a command buffer");
  return buffer;
}

Status CommandBuffer::end() {
  return toStatus(pool_->device().vk().vkEndCommandBuffer(handle_), "ending a command buffer");
}

CommandBuffer::~CommandBuffer() {
  if (handle_) pool_->device().vk().vkFreeCommandBuffers(pool_->device().handle(), pool_->handle(), 1, &handle_);
}

}  // namespace opkit::vulkan
