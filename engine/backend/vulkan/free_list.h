// FreeList: the free ranges of one block of memory, by offset. Plain logic, no Vulkan; not thread-safe.
#pragma once

#include <cstddef>
#include <map>
#include <optional>

namespace opkit::vulkan {

class FreeList {
 public:
  explicit FreeList(size_t sizeBytes) : sizeBytes_(sizeBytes) {
    if (sizeBytes > 0) free_[0] = sizeBytes;
  }

  /// The offset of `sizeBytes` at a multiple of `alignment`, in the smallest free range that fits; nullopt if none
  /// does. REQUIRES both positive.
  std::optional<size_t> take(size_t sizeBytes, size_t alignment);
  /// Frees a range and joins it with free neighbours. REQUIRES a range that take() returned.
  void give(size_t offset, size_t sizeBytes);

  size_t sizeBytes() const { return sizeBytes_; }
  bool isEmpty() const { return free_.size() == 1 && free_.begin()->second == sizeBytes_; }  // nothing taken
  size_t ranges() const { return free_.size(); }

 private:
  size_t sizeBytes_;
  std::map<size_t, size_t> free_;  // offset -> size
};

}  // namespace opkit::vulkan
