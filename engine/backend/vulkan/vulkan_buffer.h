// VulkanBuffer: a storage buffer with its own memory, mapped for its whole lifetime if the host can see it.
#pragma once

#include "engine/backend/vulkan/device.h"
#include "engine/tensor/tensor.h"

namespace opkit::vulkan {

class VulkanBuffer final : public Buffer {
 public:
  /// OutOfMemory if the device refuses. The memory is slightly larger than requested, so that descriptor ranges can be
  /// rounded up.
  static Result<std::shared_ptr<VulkanBuffer>> create(std::shared_ptr<Device> device, size_t sizeBytes, MemoryUse use);
  ~VulkanBuffer() override;

  std::byte* hostData() override { return memory_.mapped(); }
  VkBuffer handle() const { return handle_.get(); }
  size_t allocatedBytes() const { return allocatedBytes_; }
  /// Location of its bytes, for images that share them.
  const MemoryAllocator::Range& memory() const { return memory_; }

 private:
  VulkanBuffer(std::shared_ptr<Device> device, size_t sizeBytes) : Buffer(sizeBytes), device_(std::move(device)) {}
  Status allocate(MemoryUse use);

  std::shared_ptr<Device> device_;  // shared: buffers may outlive the Backend that made them
  MemoryAllocator::Range memory_;
  Owned<VkBuffer> handle_;
  size_t allocatedBytes_ = 0;
};

}  // namespace opkit::vulkan
