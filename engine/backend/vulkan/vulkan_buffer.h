// VulkanBuffer: a storage buffer with its own memory, mapped for its whole lifetime if the host can see it.
//
// Commands refer to buffers by handles that keep nothing alive. So a handle can be had from HeldBuffers alone, which
// keeps the buffer; whatever records commands has one, for as long as the commands can run.
#pragma once

#include <set>

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
  size_t allocatedBytes() const { return allocatedBytes_; }
  /// Location of its bytes, for images that share them.
  const MemoryAllocator::Range& memory() const { return memory_; }

 private:
  friend class HeldBuffers;
  VulkanBuffer(std::shared_ptr<Device> device, size_t sizeBytes) : Buffer(sizeBytes), device_(std::move(device)) {}
  Status allocate(MemoryUse use);

  std::shared_ptr<Device> device_;  // shared: buffers may outlive the Backend that made them
  MemoryAllocator::Range memory_;
  Owned<VkBuffer> handle_;
  size_t allocatedBytes_ = 0;
};

/// The buffers of recorded commands.
class HeldBuffers {
 public:
  /// The handle of a buffer, which lives at least as long as this. REQUIRES an owner, not a borrowed address.
  VkBuffer hold(std::shared_ptr<const VulkanBuffer> buffer) {
    OPKIT_CHECK(buffer.use_count() > 0);
    return (*buffers_.insert(std::move(buffer)).first)->handle_.get();
  }

 private:
  std::set<std::shared_ptr<const VulkanBuffer>> buffers_;
};

}  // namespace opkit::vulkan
