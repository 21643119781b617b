// FreeList: the free ranges of one block of memory, by offset. Plain logic, no Vulkan; not thread-safe. Destructors
// give ranges back, so give() needs no memory; take() throws std::bad_alloc before it changes anything.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

namespace opkit::vulkan {

class FreeList {
 public:
  explicit FreeList(size_t sizeBytes) : sizeBytes_(sizeBytes) {
    if (sizeBytes > 0) free_.push_back({0, sizeBytes});
  }

  /// The offset of `sizeBytes` at a multiple of `alignment`, in the smallest free range that fits; nullopt if none
  /// does. REQUIRES both positive.
  std::optional<size_t> take(size_t sizeBytes, size_t alignment);
  /// Frees a range and joins it with free neighbours. REQUIRES a range that take() returned.
  void give(size_t offset, size_t sizeBytes);

  size_t sizeBytes() const { return sizeBytes_; }
  bool isEmpty() const { return taken_ == 0 && sizeBytes_ > 0; }
  size_t ranges() const { return free_.size(); }

 private:
  struct Range {
    size_t offset, sizeBytes;
    size_t end() const { return offset + sizeBytes; }
  };

  size_t sizeBytes_;
  size_t taken_ = 0;         // ranges
  std::vector<Range> free_;  // by offset; at most one more than are taken, for which there is room
};

}  // namespace opkit::vulkan
