#include "engine/backend/vulkan/free_list.h"

#include <iterator>

#include "engine/base/check.h"

namespace opkit::vulkan {

std::optional<size_t> FreeList::take(size_t sizeBytes, size_t alignment) {
  OPKIT_CHECK(sizeBytes > 0 && alignment > 0);
  auto best = free_.end();
  size_t bestStart = 0;
  for (auto range = free_.begin(); range != free_.end(); ++range) {
    const size_t start = (range->first + alignment - 1) / alignment * alignment;
    const bool fits = start + sizeBytes <= range->first + range->second;
    if (!fits || (best != free_.end() && best->second <= range->second)) continue;
    best = range;
    bestStart = start;
  }
  if (best == free_.end()) return std::nullopt;
  const size_t begin = best->first;
  const size_t end = begin + best->second;
  free_.erase(best);
  if (bestStart > begin) free_[begin] = bestStart - begin;
  if (bestStart + sizeBytes < end) free_[bestStart + sizeBytes] = end - bestStart - sizeBytes;
  return bestStart;
}

void FreeList::give(size_t offset, size_t sizeBytes) {
  const auto [range, isNew] = free_.emplace(offset, sizeBytes);
  OPKIT_CHECK(isNew && offset + sizeBytes <= sizeBytes_);
  const auto next = std::next(range);
  if (next != free_.end()) {
    OPKIT_CHECK(offset + sizeBytes <= next->first);
    if (offset + sizeBytes == next->first) {
      range->second += next->second;
      free_.erase(next);
    }
  }
  if (range == free_.begin()) return;
  const auto previous = std::prev(range);
  OPKIT_CHECK(previous->first + previous->second <= offset);
  if (previous->first + previous->second < offset) return;
  previous->second += range->second;
  free_.erase(range);
}

}  // namespace opkit::vulkan
