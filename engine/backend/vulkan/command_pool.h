// CommandPool and CommandBuffer: where commands are recorded. Used by one thread at a time.
#pragma once

#include "engine/backend/vulkan/device.h"

namespace opkit::vulkan {

class CommandPool {
 public:
  static Result<std::shared_ptr<CommandPool>> create(std::shared_ptr<Device> device);
  VkCommandPool handle() const { return handle_.get(); }
  Device& device() const { return *device_; }

 private:
  explicit CommandPool(std::shared_ptr<Device> device) : device_(std::move(device)) {}
  std::shared_ptr<Device> device_;
  Owned<VkCommandPool> handle_;
};

/// A primary command buffer that may be submitted many times, one submission at a time.
class CommandBuffer {
 public:
  /// Allocated and begun.
  static Result<CommandBuffer> create(std::shared_ptr<CommandPool> pool);
  CommandBuffer(CommandBuffer&& other) noexcept
      : pool_(std::move(other.pool_)), handle_(std::exchange(other.handle_, nullptr)) {}
  CommandBuffer& operator=(CommandBuffer&&) = delete;
  ~CommandBuffer();

  VkCommandBuffer handle() const { return handle_; }
  Status end();

 private:
  CommandBuffer(std::shared_ptr<CommandPool> pool, VkCommandBuffer handle) : pool_(std::move(pool)), handle_(handle) {}
  std::shared_ptr<CommandPool> pool_;  // shared: recordings of Executions may outlive the Backend's reference
  VkCommandBuffer handle_ = nullptr;
};

}  // namespace opkit::vulkan
