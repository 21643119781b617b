#include "harness/allocations/block_set.h"

#include <algorithm>

#include "engine/base/check.h"

namespace opkit::harness {
namespace {

class Locked {
 public:
  explicit Locked(std::atomic_flag& flag) : flag_(flag) {
    while (flag_.test_and_set(std::memory_order_acquire)) {
    }
  }
  ~Locked() { flag_.clear(std::memory_order_release); }
  Locked(const Locked&) = delete;
  Locked& operator=(const Locked&) = delete;

 private:
  std::atomic_flag& flag_;
};

}  // namespace

void BlockSet::makeRoom() { slots_.resize(kSlots); }

/// The block's slot, or the free one where it belongs.
size_t BlockSet::slotOf(uintptr_t block) const {
  size_t slot = home(block);
  while (slots_[slot].block != 0 && slots_[slot].block != block) slot = (slot + 1) % kSlots;
  return slot;
}

uint64_t BlockSet::leastLabel(uint64_t from) const {
  uint64_t least = UINT64_MAX;
  for (const Slot& slot : slots_)
    if (slot.block != 0 && slot.label >= from) least = std::min(least, slot.label);
  return least;
}

void BlockSet::add(const void* block, size_t bytes, uint64_t label) {
  const Locked locked(busy_);
  OPKIT_CHECK(live_.blocks < kSlots / 2);
  const auto address = reinterpret_cast<uintptr_t>(block);
  slots_[slotOf(address)] = {address, bytes, label};
  ++live_.blocks;
  live_.bytes += bytes;
}

void BlockSet::remove(const void* block) {
  const Locked locked(busy_);
  size_t gap = slotOf(reinterpret_cast<uintptr_t>(block));
  if (slots_[gap].block == 0) return;
  --live_.blocks;
  live_.bytes -= slots_[gap].bytes;
  // Moves those behind forward that would not be found across the gap.
  for (size_t next = (gap + 1) % kSlots; slots_[next].block != 0; next = (next + 1) % kSlots) {
    const size_t distance = (next - home(slots_[next].block)) % kSlots, toGap = (next - gap) % kSlots;
    if (distance < toGap) continue;
    slots_[gap] = slots_[next];
    gap = next;
  }
  slots_[gap] = {};
}

}  // namespace opkit::harness
