#include "engine/backend/vulkan/hazard_tracker.h"

#include <algorithm>

namespace opkit::vulkan {

void ByteRanges::add(const ByteAccess& access) {
  if (access.begin == access.end) return;
  size_t begin = access.begin, end = access.end;
  auto next = ends_.upper_bound({access.buffer, begin});
  if (next != ends_.begin())
    if (const auto before = std::prev(next); before->first.first == access.buffer && before->second >= begin)
      next = before;
  while (next != ends_.end() && next->first.first == access.buffer && next->first.second <= end) {
    begin = std::min(begin, next->first.second);
    end = std::max(end, next->second);
    next = ends_.erase(next);
  }
  ends_.emplace_hint(next, Start{access.buffer, begin}, end);
}

bool ByteRanges::meets(const ByteAccess& access) const {
  if (access.begin == access.end) return false;
  // Ranges are disjoint, so among those that begin before the end of the access, the last one ends last.
  const auto after = ends_.lower_bound({access.buffer, access.end});
  if (after == ends_.begin()) return false;
  const auto& [start, end] = *std::prev(after);
  return start.first == access.buffer && end > access.begin;
}

bool HazardTracker::conflicts(const ByteAccess& access) const {
  return written_.meets(access) || (access.write && read_.meets(access));
}

void HazardTracker::remember(const ByteAccess& access) { (access.write ? written_ : read_).add(access); }

bool HazardTracker::add(std::span<const ByteAccess> accesses) {
  const bool barrier =
      std::any_of(accesses.begin(), accesses.end(), [&](const ByteAccess& access) { return conflicts(access); });
  if (barrier) barrierPlaced();
  for (const ByteAccess& access : accesses)
    if (disjoint_)
      group_.push_back(access);
    else
      remember(access);
  return barrier;
}

void HazardTracker::barrierPlaced() {
  read_.clear();
  written_.clear();
  group_.clear();
}

void HazardTracker::endDisjoint() {
  disjoint_ = false;
  for (const ByteAccess& access : group_) remember(access);
  group_.clear();
}

void HazardTracker::clear() {
  barrierPlaced();
  disjoint_ = false;
}

}  // namespace opkit::vulkan
