#include "engine/runtime/memory_planner.h"

#include <algorithm>
#include <cstdint>
#include <functional>
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

/// Which of the gaps that are large enough a tensor takes.
enum class Gap { Lowest, Tightest };

size_t chooseOffset(size_t tensor, const std::vector<size_t>& placed, const std::vector<Lifetime>& lifetimes,
                    const std::vector<size_t>& offsets, size_t alignment, Gap gap) {
  const size_t size = alignUp(lifetimes[tensor].sizeBytes, alignment);
  size_t free = 0;  // no placed tensor that lives meanwhile reaches further, so far
  size_t best = SIZE_MAX, tightest = SIZE_MAX;
  for (size_t other : placed) {
    if (!liveTogether(lifetimes[tensor], lifetimes[other])) continue;
    if (free + size <= offsets[other] && offsets[other] - free < tightest) {
      best = free;
      tightest = offsets[other] - free;
      if (gap == Gap::Lowest) return best;
    }
    free = std::max(free, offsets[other] + alignUp(lifetimes[other].sizeBytes, alignment));
  }
  return best == SIZE_MAX ? free : best;
}

/// Places all tensors in `order`; returns the arena's size.
size_t place(const std::vector<size_t>& order, const std::vector<Lifetime>& lifetimes, size_t alignment, Gap gap,
             std::vector<size_t>& offsets) {
  size_t peak = 0;
  std::vector<size_t> placed;  // sorted by offset
  for (size_t tensor : order) {
    const size_t offset = chooseOffset(tensor, placed, lifetimes, offsets, alignment, gap);
    offsets[tensor] = offset;
    peak = std::max(peak, offset + alignUp(lifetimes[tensor].sizeBytes, alignment));
    const auto position = std::upper_bound(placed.begin(), placed.end(), offset,
                                           [&](size_t value, size_t p) { return value < offsets[p]; });
    placed.insert(position, tensor);
  }
  return peak;
}

}  // namespace

MemoryPlan planMemory(const std::vector<Lifetime>& lifetimes, size_t alignment) {
  MemoryPlan plan;
  plan.peakBytes = SIZE_MAX;
  plan.lowerBoundBytes = lowerBound(lifetimes, alignment);
  const auto size = [&](size_t i) { return static_cast<double>(lifetimes[i].sizeBytes); };
  const auto steps = [&](size_t i) { return static_cast<double>(lifetimes[i].last - lifetimes[i].first + 1); };
  const std::function<double(size_t)> ranks[] = {
      [&](size_t i) { return size(i); },
      [&](size_t i) { return size(i) * steps(i); },
      [&](size_t i) { return steps(i); },
      [&](size_t i) { return -static_cast<double>(lifetimes[i].first); },
      [&](size_t i) { return static_cast<double>(lifetimes[i].last); },
  };
  for (const auto& rank : ranks) {
    std::vector<size_t> order(lifetimes.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::ranges::stable_sort(order, [&](size_t a, size_t b) { return rank(a) > rank(b); });
    for (const Gap gap : {Gap::Lowest, Gap::Tightest}) {
      std::vector<size_t> offsets(lifetimes.size(), 0);
      const size_t peak = place(order, lifetimes, alignment, gap, offsets);
      if (peak >= plan.peakBytes) continue;
      plan.peakBytes = peak;
      plan.offsets = std::move(offsets);
      if (peak <= plan.lowerBoundBytes) return plan;
    }
  }
  return plan;
}

}  // namespace opkit
