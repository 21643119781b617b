#include "engine/backend/vulkan/memory_allocator.h"

#include <algorithm>
#include <cstring>

#include "engine/backend/vulkan/device.h"
#include "engine/backend/vulkan/vulkan_status.h"
#include "engine/base/hostile_memory.h"

namespace opkit::vulkan {
namespace {

constexpr size_t kFirstBlockBytes = size_t{4} << 20;
constexpr size_t kLargestBlockBytes = size_t{64} << 20;

}  // namespace

struct MemoryAllocator::Block {
  Owned<VkDeviceMemory> memory;
  uint32_t type;
  bool dedicated;
  std::byte* mapped;
  FreeList free;
};

MemoryAllocator::MemoryAllocator(Device& device) : device_(device) {}

MemoryAllocator::~MemoryAllocator() = default;

void MemoryAllocator::releaseAll() {
  OPKIT_CHECK(statistics_.ranges == 0);
  blocks_.clear();
}

MemoryAllocator::Range& MemoryAllocator::Range::operator=(Range&& other) noexcept {
  std::swap(owner_, other.owner_);
  std::swap(block_, other.block_);
  std::swap(offset_, other.offset_);
  std::swap(sizeBytes_, other.sizeBytes_);
  return *this;
}

MemoryAllocator::Range::~Range() {
  if (owner_) owner_->release(*block_, offset_, sizeBytes_);
}

VkDeviceMemory MemoryAllocator::Range::memory() const { return block_->memory.get(); }

std::byte* MemoryAllocator::Range::mapped() const { return block_->mapped ? block_->mapped + offset_ : nullptr; }

Result<MemoryAllocator::Range> MemoryAllocator::allocate(MemoryUse use, const VkMemoryRequirements& needed) {
  OPKIT_ASSIGN(const Device::MemoryType type, device_.memoryType(use, needed.memoryTypeBits));
  // Ranges may come to hold images, which must not share a page of the device's granularity with buffers.
  const VkDeviceSize page = std::max(device_.limits().bufferImageGranularity, needed.alignment);
  const VkMemoryRequirements requirements{(needed.size + page - 1) / page * page, page, needed.memoryTypeBits};
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto refused = [&](const std::string& why) {
    return Status::outOfMemory("vulkan: {} bytes refused ({}); {} bytes are in use in {} allocations of {} bytes",
                               requirements.size, why, statistics_.usedBytes, statistics_.allocations,
                               statistics_.reservedBytes);
  };
  if (statistics_.usedBytes + requirements.size > capBytes_) return refused(fmt::format("the cap is {}", capBytes_));
  auto range = device_.faults().creationFails("memory")
                   ? Result<Range>(toStatus(VK_ERROR_OUT_OF_DEVICE_MEMORY, "allocating device memory"))
                   : cut(type.index, type.mapped, requirements);
  if (!range) return range.error().code() == StatusCode::OutOfMemory ? refused(range.error().message()) : range.error();
  range->owner_ = this;
  ++statistics_.ranges;
  statistics_.usedBytes += range->sizeBytes_;
  statistics_.peakUsedBytes = std::max(statistics_.peakUsedBytes, statistics_.usedBytes);
  return range;
}

/// From the first block with room, else from a new one: shared, or of exactly this size for a large range, and as the
/// last resort before giving up.
Result<MemoryAllocator::Range> MemoryAllocator::cut(uint32_t type, bool mapped,
                                                    const VkMemoryRequirements& requirements) {
  Range range;
  const auto take = [&](Block& block) {
    const auto offset = block.free.take(requirements.size, requirements.alignment);
    if (!offset) return false;
    range.block_ = &block;
    range.offset_ = *offset;
    range.sizeBytes_ = requirements.size;
    return true;
  };
  for (const auto& block : blocks_)
    if (block->type == type && !block->dedicated && take(*block)) return range;
  const size_t blockBytes = nextBlockBytes(type);
  if (requirements.size <= blockBytes / 2) {
    const auto block = addBlock(type, blockBytes, mapped, false);
    if (block && take(**block)) return range;
  }
  OPKIT_ASSIGN(Block * own, addBlock(type, requirements.size, mapped, true));
  OPKIT_CHECK(take(*own));
  return range;
}

size_t MemoryAllocator::nextBlockBytes(uint32_t type) const {
  size_t bytes = kFirstBlockBytes;
  for (const auto& block : blocks_)
    if (block->type == type && !block->dedicated) bytes = std::max(bytes, block->free.sizeBytes() * 2);
  return std::min({bytes, kLargestBlockBytes, static_cast<size_t>(device_.physical().maxAllocationBytes)});
}

Result<MemoryAllocator::Block*> MemoryAllocator::addBlock(uint32_t type, size_t sizeBytes, bool mapped,
                                                          bool dedicated) {
  if (statistics_.allocations >= device_.limits().maxMemoryAllocationCount)
    return Status::outOfMemory("the device allows {} allocations", statistics_.allocations);
  const VolkDeviceTable& vk = device_.vk();
  const VkMemoryAllocateInfo info{VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO, nullptr, sizeBytes, type};
  VkDeviceMemory handle = VK_NULL_HANDLE;
  OPKIT_VK(vk.vkAllocateMemory(device_.handle(), &info, nullptr, &handle), "allocating device memory");
  Owned<VkDeviceMemory> memory(device_, handle, vk.vkFreeMemory);  // freeing unmaps
  void* address = nullptr;
  if (mapped)
    OPKIT_VK(vk.vkMapMemory(device_.handle(), handle, 0, VK_WHOLE_SIZE, 0, &address), "mapping device memory");
  blocks_.push_back(std::make_unique<Block>(
      Block{std::move(memory), type, dedicated, static_cast<std::byte*>(address), FreeList(sizeBytes)}));
  ++statistics_.allocations;
  statistics_.dedicated += dedicated;
  statistics_.reservedBytes += sizeBytes;
  return blocks_.back().get();
}

void MemoryAllocator::release(Block& block, size_t offset, size_t sizeBytes) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (block.mapped && HostileMemory::isOn()) std::memset(block.mapped + offset, 0xFF, sizeBytes);
  block.free.give(offset, sizeBytes);
  --statistics_.ranges;
  statistics_.usedBytes -= sizeBytes;
  if (!block.free.isEmpty()) return;
  const bool only = std::none_of(blocks_.begin(), blocks_.end(), [&](const auto& other) {
    return other.get() != &block && other->type == block.type && !other->dedicated;
  });
  if (block.dedicated || !only) removeBlock(block);
}

void MemoryAllocator::removeBlock(Block& block) {
  --statistics_.allocations;
  statistics_.dedicated -= block.dedicated;
  statistics_.reservedBytes -= block.free.sizeBytes();
  std::erase_if(blocks_, [&](const auto& other) { return other.get() == &block; });
}

void MemoryAllocator::setCapBytes(size_t capBytes) {
  const std::lock_guard<std::mutex> lock(mutex_);
  capBytes_ = capBytes;
}

MemoryStatistics MemoryAllocator::statistics() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return statistics_;
}

}  // namespace opkit::vulkan
