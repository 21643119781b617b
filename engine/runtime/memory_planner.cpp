#include "engine/runtime/memory_planner.h"

#include <algorithm>
#include <numeric>

namespace opkit {
namespace {

size_t alignUp(size_t value, size_t alignment) { return (value + alignment - 1) / alignment * alignment; }

bool liveTogether(const Lifetime& a, const Lifetime& b) { return a.first <= b.last && b.first <= a.last; }

size_t lowerBound(const std::vector<Lifetime>& lifetimes, size_t alignment) {
  size_t bound = 0;
  // The sum of live sizes can only rise where a lifetime begins.
  for (const Lifetime& start : lifetimes) {
    size_t live = 0;
    for (const Lifetime& other : lifetimes)
      if (other.first <= start.first && start.first <= other.last) live += alignUp(other.sizeBytes, alignment);
    bound = std::max(bound, live);
  }
  return bound;
}

}  // namespace

MemoryPlan planMemory(const std::vector<Lifetime>& lifetimes, size_t alignment) {
  MemoryPlan plan;
  plan.offsets.assign(lifetimes.size(), 0);
  plan.lowerBoundBytes = lowerBound(lifetimes, alignment);
  std::vector<size_t> order(lifetimes.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return lifetimes[a].sizeBytes > lifetimes[b].sizeBytes; });

  std::vector<size_t> placed;  // sorted by offset
  for (size_t tensor : order) {
    const size_t size = alignUp(lifetimes[tensor].sizeBytes, alignment);
    size_t offset = 0;
    for (size_t other : placed) {
      if (!liveTogether(lifetimes[tensor], lifetimes[other])) continue;
      if (offset + size <= plan.offsets[other]) break;
      offset = std::max(offset, plan.offsets[other] + alignUp(lifetimes[other].sizeBytes, alignment));
    }
    plan.offsets[tensor] = offset;
    plan.peakBytes = std::max(plan.peakBytes, offset + size);
    const auto position = std::upper_bound(placed.begin(), placed.end(), offset,
                                           [&](size_t value, size_t p) { return value < plan.offsets[p]; });
    placed.insert(position, tensor);
  }
  return plan;
}

}  // namespace opkit
