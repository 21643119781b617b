// A set of blocks that allocates nothing itself. Thread-safe.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "harness/allocations/refusals.h"

namespace opkit::harness {

class BlockSet {
 public:
  /// REQUIRES a call before the first block; allocates.
  void makeRoom();
  void add(const void* block, size_t bytes, uint64_t label);
  /// Does nothing for a block that is not in the set.
  void remove(const void* block);
  LiveBlocks live() const { return live_; }
  /// The least label of a block from `from` on; UINT64_MAX if there is none.
  uint64_t leastLabel(uint64_t from) const;

 private:
  struct Slot {
    uintptr_t block = 0;
    size_t bytes = 0;
    uint64_t label = 0;
  };
  size_t home(uintptr_t block) const { return (block >> 4) * 0x9E3779B97F4A7C15u >> (64 - kBits); }
  size_t slotOf(uintptr_t block) const;

  static constexpr int kBits = 20;
  static constexpr size_t kSlots = size_t{1} << kBits;
  std::vector<Slot> slots_;
  LiveBlocks live_;
  std::atomic_flag busy_ = ATOMIC_FLAG_INIT;
};

}  // namespace opkit::harness
