#include "engine/backend/vulkan/hazard_tracker.h"

#include <algorithm>

namespace opkit::vulkan {
namespace {

bool conflicts(const ByteAccess& a, const ByteAccess& b) {
  if (a.begin == a.end || b.begin == b.end) return false;
  return (a.write || b.write) && a.buffer == b.buffer && a.begin < b.end && b.begin < a.end;
}

}  // namespace

bool HazardTracker::add(std::span<const ByteAccess> accesses) {
  const bool barrier = std::any_of(accesses.begin(), accesses.end(), [&](const ByteAccess& access) {
    return std::any_of(since_.begin(), since_.end(), [&](const ByteAccess& other) { return conflicts(access, other); });
  });
  if (barrier) {
    since_.clear();
    group_.clear();
  }
  std::vector<ByteAccess>& target = disjoint_ ? group_ : since_;
  target.insert(target.end(), accesses.begin(), accesses.end());
  return barrier;
}

void HazardTracker::endDisjoint() {
  disjoint_ = false;
  since_.insert(since_.end(), group_.begin(), group_.end());
  group_.clear();
}

void HazardTracker::clear() {
  since_.clear();
  group_.clear();
  disjoint_ = false;
}

}  // namespace opkit::vulkan
