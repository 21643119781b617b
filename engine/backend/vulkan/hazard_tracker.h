// HazardTracker: decides from the bytes that commands read and write where a barrier must stand.
//
// It remembers every access since the last barrier. A command that reads what was written, or writes what was
// read or written, since then needs one. One barrier covers everything before it. Plain logic, no Vulkan.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace opkit::vulkan {

struct ByteAccess {
  const void* buffer = nullptr;  // identity only
  size_t begin = 0;
  size_t end = 0;
  bool write = false;
};

class HazardTracker {
 public:
  /// Whether a barrier must precede a command with these accesses; then remembers them.
  bool add(std::span<const ByteAccess> accesses);
  /// A barrier stands here for another reason.
  void barrierPlaced() {
    since_.clear();
    group_.clear();
  }
  /// Commands until endDisjoint() are promised not to depend on each other, only on what came before.
  void beginDisjoint() { disjoint_ = true; }
  void endDisjoint();
  /// Forgets everything, as at the start of a command buffer.
  void clear();

 private:
  std::vector<ByteAccess> since_;  // the last barrier
  std::vector<ByteAccess> group_;  // of the disjoint group that is open
  bool disjoint_ = false;
};

}  // namespace opkit::vulkan
