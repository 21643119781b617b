// Device: a logical Vulkan device with its queue, its function table and its memory.
//
// Shared by the Runtime, every Backend and every Buffer made on it; the last of them destroys it. Thread-safe.
#pragma once

#include <volk.h>

#include <memory>
#include <mutex>

#include "engine/backend/vulkan/faults.h"
#include "engine/backend/vulkan/memory_allocator.h"
#include "engine/backend/vulkan/physical_device.h"

namespace opkit::vulkan {

/// Location of a buffer: tensors are mapped on unified devices and device-local on others; staging memory is the
/// host's.
enum class MemoryUse { Tensor, Staging };

class Device {
 public:
  static Result<std::shared_ptr<Device>> create(std::shared_ptr<Instance> instance, const PhysicalDevice& physical);
  ~Device();
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  VkDevice handle() const { return handle_; }
  /// This device's functions, called without the loader's indirection.
  const VolkDeviceTable& vk() const { return table_; }
  const PhysicalDevice& physical() const { return physical_; }
  const VkPhysicalDeviceLimits& limits() const { return physical_.properties.limits; }

  /// Submits a command buffer and waits until it has run; `fence` is unsignalled before and after. DeviceLost, also for
  /// every later call, once the device is lost.
  Status submitAndWait(VkCommandBuffer commands, VkFence fence);
  /// DeviceLost once a submission has lost the device.
  Status requireAlive() const;

  MemoryAllocator& memory() { return memory_; }
  Faults& faults() const { return faults_; }

  /// The best memory type of `allowed` (a bit mask) for a use, and whether the host can map it.
  struct MemoryType {
    uint32_t index;
    bool mapped;
  };
  Result<MemoryType> memoryType(MemoryUse use, uint32_t allowed) const;

 private:
  Status submit(VkCommandBuffer commands, VkFence fence);
  Device(std::shared_ptr<Instance> instance, PhysicalDevice physical)
      : instance_(std::move(instance)), physical_(std::move(physical)) {}

  std::shared_ptr<Instance> instance_;  // must outlive the device
  PhysicalDevice physical_;
  VkDevice handle_ = VK_NULL_HANDLE;
  VkQueue queue_ = VK_NULL_HANDLE;
  VolkDeviceTable table_{};
  std::mutex queueMutex_;  // a VkQueue serves one thread at a time
  MemoryAllocator memory_{*this};
  mutable Faults faults_;
  std::atomic<bool> lost_{false};
};

/// A Vulkan object that dies with its owner. The Device must outlive it.
template <class Handle>
class Owned {
 public:
  using Destroy = void(VKAPI_PTR*)(VkDevice, Handle, const VkAllocationCallbacks*);

  Owned() = default;
  Owned(const Device& device, Handle handle, Destroy destroy)
      : device_(device.handle()), handle_(handle), destroy_(destroy) {}
  Owned(Owned&& other) noexcept
      : device_(other.device_), handle_(std::exchange(other.handle_, VK_NULL_HANDLE)), destroy_(other.destroy_) {}
  Owned& operator=(Owned&& other) noexcept {
    std::swap(device_, other.device_);
    std::swap(handle_, other.handle_);
    std::swap(destroy_, other.destroy_);
    return *this;
  }
  ~Owned() {
    if (handle_) destroy_(device_, handle_, nullptr);
  }

  Handle get() const { return handle_; }
  explicit operator bool() const { return handle_ != VK_NULL_HANDLE; }

 private:
  VkDevice device_ = VK_NULL_HANDLE;
  Handle handle_ = VK_NULL_HANDLE;
  Destroy destroy_ = nullptr;
};

/// An unsignalled fence.
Result<Owned<VkFence>> createFence(const Device& device);

}  // namespace opkit::vulkan

/// OPKIT_VK for calls that make an object on `device`; fails if the device's Faults request it.
#define OPKIT_VK_CREATE(device, call, what) \
  OPKIT_VK((device).faults().creationFails(what) ? VK_ERROR_OUT_OF_DEVICE_MEMORY : (call), what)
