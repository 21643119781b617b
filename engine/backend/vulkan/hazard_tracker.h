// HazardTracker: decides from the bytes that commands read and write where a barrier is needed.
//
// It remembers which bytes were accessed since the last barrier. A command that reads what was written, or writes what
// was read or written, since then needs one. One barrier covers everything before it. A query takes logarithmic time in
// the number of separate ranges. Plain logic, no Vulkan.
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <vector>

namespace opkit::vulkan {

struct ByteAccess {
  const void* buffer = nullptr;  // identity only
  size_t begin = 0;
  size_t end = 0;
  bool write = false;
};

/// A set of bytes of several buffers.
class ByteRanges {
 public:
  void add(const ByteAccess& access);
  bool meets(const ByteAccess& access) const;
  void clear() { ends_.clear(); }

 private:
  using Start = std::pair<const void*, size_t>;  // buffer, begin
  std::map<Start, size_t> ends_;                 // ranges neither meet nor touch
};

class HazardTracker {
 public:
  /// Whether a barrier must precede a command with these accesses; then remembers them.
  bool add(std::span<const ByteAccess> accesses);
  /// Call when a barrier is placed for another reason.
  void barrierPlaced();
  /// Commands until endDisjoint() are promised not to depend on each other, only on what came before.
  void beginDisjoint() { disjoint_ = true; }
  void endDisjoint();
  /// Forgets everything, as at the start of a command buffer.
  void clear();

 private:
  bool conflicts(const ByteAccess& access) const;
  void remember(const ByteAccess& access);

  ByteRanges read_, written_;      // since the last barrier
  std::vector<ByteAccess> group_;  // of the disjoint group that is open
  bool disjoint_ = false;
};

}  // namespace opkit::vulkan
