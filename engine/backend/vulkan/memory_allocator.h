// MemoryAllocator: hands out ranges of device memory, cut from few large allocations of the driver.
//
// Drivers allow few allocations (often 4096) and make each slowly. Ranges of up to half a block share blocks, larger
// ones get an allocation of their own. Blocks double from 4 to 64 MiB; an empty block is freed unless it is the only
// one of its memory type. Host-visible memory is mapped for good. Owned by the Device; thread-safe.
#pragma once

#include <volk.h>

#include <memory>
#include <mutex>
#include <vector>

#include "engine/backend/vulkan/free_list.h"
#include "engine/base/status.h"

namespace opkit::vulkan {

class Device;
enum class MemoryUse;

/// Counted now, except where noted.
struct MemoryStatistics {
  size_t allocations = 0;  // of the driver
  size_t dedicated = 0;    // of these, for one range each
  size_t ranges = 0;
  size_t reservedBytes = 0;  // in allocations
  size_t usedBytes = 0;      // in ranges
  size_t peakUsedBytes = 0;  // since the device was made
};

class MemoryAllocator {
  struct Block;

 public:
  explicit MemoryAllocator(Device& device);
  ~MemoryAllocator();
  MemoryAllocator(const MemoryAllocator&) = delete;
  MemoryAllocator& operator=(const MemoryAllocator&) = delete;

  /// A range that is freed when destroyed. The allocator must outlive it.
  class Range {
   public:
    Range() = default;
    Range(Range&& other) noexcept { *this = std::move(other); }
    Range& operator=(Range&& other) noexcept;
    ~Range();

    VkDeviceMemory memory() const;
    size_t offset() const { return offset_; }
    size_t sizeBytes() const { return sizeBytes_; }
    /// Host address of the range, or null.
    std::byte* mapped() const;

   private:
    friend class MemoryAllocator;
    MemoryAllocator* owner_ = nullptr;
    Block* block_ = nullptr;
    size_t offset_ = 0;
    size_t sizeBytes_ = 0;
  };

  /// OutOfMemory if the driver or the cap refuses; the message states the requested and the used bytes.
  Result<Range> allocate(MemoryUse use, const VkMemoryRequirements& requirements);
  /// Frees every block. REQUIRES that no range is left.
  void releaseAll();
  /// Refuses ranges beyond this sum.
  void setCapBytes(size_t capBytes);
  MemoryStatistics statistics() const;

 private:
  Result<Block*> addBlock(uint32_t type, size_t sizeBytes, bool mapped, bool dedicated);
  Result<Range> cut(uint32_t type, bool mapped, const VkMemoryRequirements& requirements);
  void release(Block& block, size_t offset, size_t sizeBytes);
  void removeBlock(Block& block);
  size_t nextBlockBytes(uint32_t type) const;

  Device& device_;
  mutable std::mutex mutex_;
  std::vector<std::unique_ptr<Block>> blocks_;
  MemoryStatistics statistics_;
  size_t capBytes_ = SIZE_MAX;
};

}  // namespace opkit::vulkan
