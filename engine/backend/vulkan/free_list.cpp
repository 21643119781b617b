#include "engine/backend/vulkan/free_list.h"

#include <algorithm>

#include "engine/base/check.h"

namespace opkit::vulkan {

std::optional<size_t> FreeList::take(size_t sizeBytes, size_t alignment) {
  OPKIT_CHECK(sizeBytes > 0 && alignment > 0);
  if (free_.capacity() < taken_ + 2) free_.reserve(2 * taken_ + 2);
  const auto startIn = [&](const Range& range) { return (range.offset + alignment - 1) / alignment * alignment; };
  auto best = free_.end();
  for (auto range = free_.begin(); range != free_.end(); ++range)
    if (startIn(*range) + sizeBytes <= range->end() && (best == free_.end() || range->sizeBytes < best->sizeBytes))
      best = range;
  if (best == free_.end()) return std::nullopt;
  const size_t start = startIn(*best);
  const Range before{best->offset, start - best->offset}, after{start + sizeBytes, best->end() - start - sizeBytes};
  ++taken_;
  if (before.sizeBytes == 0 && after.sizeBytes == 0) {
    free_.erase(best);
  } else {
    *best = before.sizeBytes > 0 ? before : after;
    if (before.sizeBytes > 0 && after.sizeBytes > 0) free_.insert(std::next(best), after);
  }
  return start;
}

void FreeList::give(size_t offset, size_t sizeBytes) {
  const Range given{offset, sizeBytes};
  const auto next = std::ranges::lower_bound(free_, offset, {}, &Range::offset);
  const auto previous = next == free_.begin() ? free_.end() : std::prev(next);
  OPKIT_CHECK(taken_ > 0 && given.end() <= sizeBytes_);
  OPKIT_CHECK(next == free_.end() || given.end() <= next->offset);
  OPKIT_CHECK(previous == free_.end() || previous->end() <= offset);
  --taken_;
  const bool joinsPrevious = previous != free_.end() && previous->end() == offset;
  const bool joinsNext = next != free_.end() && next->offset == given.end();
  if (joinsPrevious) {
    previous->sizeBytes += sizeBytes + (joinsNext ? next->sizeBytes : 0);
    if (joinsNext) free_.erase(next);
  } else if (joinsNext) {
    *next = {offset, sizeBytes + next->sizeBytes};
  } else {
    free_.insert(next, given);
  }
}

}  // namespace opkit::vulkan
