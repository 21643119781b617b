#include "engine/runtime/memory_planner.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

namespace opkit {
namespace {

// Beyond so many tensors the walk in time gives the plan: placing them by size examines every pair.
constexpr size_t kMostBySize = 2048;

/// The part of an arena that a walk in time has used so far, and the gaps in it.
class Gaps {
 public:
  /// The tightest gap, or the arena's end.
  size_t take(size_t size) {
    if (size == 0) return 0;
    const auto fit = bySize_.lower_bound({size, 0});
    if (fit == bySize_.end()) return extend(size);
    const auto [gap, offset] = *fit;
    remove(offset, gap);
    if (gap > size) add(offset + size, gap - size);
    return offset;
  }

  void giveBack(size_t offset, size_t size) {
    if (size == 0) return;
    const auto next = byOffset_.upper_bound(offset);
    if (next != byOffset_.end() && next->first == offset + size) {
      size += next->second;
      remove(next->first, next->second);
    }
    const auto after = byOffset_.upper_bound(offset);
    if (after != byOffset_.begin())
      if (const auto [before, length] = *std::prev(after); before + length == offset) {
        remove(before, length);
        offset = before;
        size += length;
      }
    add(offset, size);
  }

  size_t end() const { return end_; }

 private:
  /// Nothing fits: a gap at the end is extended, so that it is used.
  size_t extend(size_t size) {
    size_t offset = end_;
    if (!byOffset_.empty())
      if (const auto [last, length] = *byOffset_.rbegin(); last + length == end_) {
        offset = last;
        remove(last, length);
      }
    end_ = offset + size;
    return offset;
  }
  void add(size_t offset, size_t size) {
    byOffset_[offset] = size;
    bySize_.insert({size, offset});
  }
  void remove(size_t offset, size_t size) {
    byOffset_.erase(offset);
    bySize_.erase({size, offset});
  }

  size_t end_ = 0;
  std::map<size_t, size_t> byOffset_;
  std::set<std::pair<size_t, size_t>> bySize_;
};

class Planner {
 public:
  Planner(const std::vector<Lifetime>& lifetimes, size_t alignment) : lifetimes_(lifetimes) {
    for (const Lifetime& each : lifetimes) sizes_.push_back((each.sizeBytes + alignment - 1) / alignment * alignment);
    plan_.offsets.assign(lifetimes.size(), 0);
  }

  MemoryPlan run() {
    sortByTime();
    findLowerBound();
    const size_t bottom = placeAtBottom();
    walkInTime(bottom);
    for (const bool byArea : {false, true})
      if (plan_.peakBytes > plan_.lowerBoundBytes && byFirst_.size() <= kMostBySize) placeLargestFirst(bottom, byArea);
    return std::move(plan_);
  }

 private:
  void sortByTime() {
    byFirst_.resize(lifetimes_.size());
    std::iota(byFirst_.begin(), byFirst_.end(), size_t{0});
    byLast_ = byFirst_;
    std::ranges::stable_sort(byFirst_, {}, [&](size_t i) { return lifetimes_[i].first; });
    std::ranges::stable_sort(byLast_, {}, [&](size_t i) { return lifetimes_[i].last; });
  }

  /// Calls ends(tensor) and begins(tensor) in the order of time.
  template <class Ends, class Begins>
  void sweep(Ends&& ends, Begins&& begins) const {
    size_t ended = 0;
    for (const size_t tensor : byFirst_) {
      for (; lifetimes_[byLast_[ended]].last < lifetimes_[tensor].first; ++ended) ends(byLast_[ended]);
      begins(tensor);
    }
  }

  /// The sum of live sizes can only rise where a lifetime begins.
  void findLowerBound() {
    size_t live = 0;
    sweep([&](size_t tensor) { live -= sizes_[tensor]; },
          [&](size_t tensor) {
            live += sizes_[tensor];
            plan_.lowerBoundBytes = std::max(plan_.lowerBoundBytes, live);
          });
  }

  /// A tensor that lives together with all others shares its bytes in no plan, so it is placed at the bottom. The
  /// others stay in byFirst_ and byLast_.
  size_t placeAtBottom() {
    if (byFirst_.empty()) return 0;
    const size_t lastBegin = lifetimes_[byFirst_.back()].first, firstEnd = lifetimes_[byLast_.front()].last;
    const auto meetsAll = [&](size_t tensor) {
      return lifetimes_[tensor].first <= firstEnd && lifetimes_[tensor].last >= lastBegin;
    };
    size_t end = 0;
    for (size_t tensor = 0; tensor < lifetimes_.size(); ++tensor) {
      if (!meetsAll(tensor)) continue;
      plan_.offsets[tensor] = end;
      end += sizes_[tensor];
    }
    std::erase_if(byFirst_, meetsAll);
    std::erase_if(byLast_, meetsAll);
    return end;
  }

  void walkInTime(size_t bottom) {
    Gaps gaps;
    sweep([&](size_t tensor) { gaps.giveBack(plan_.offsets[tensor] - bottom, sizes_[tensor]); },
          [&](size_t tensor) { plan_.offsets[tensor] = bottom + gaps.take(sizes_[tensor]); });
    plan_.peakBytes = bottom + gaps.end();
  }

  /// Places the largest tensors first (by bytes, or by bytes times steps), each in the lowest gap between those that
  /// live at the same time. Kept if the plan becomes smaller.
  void placeLargestFirst(size_t bottom, bool byArea) {
    const auto rank = [&](size_t i) {
      const Lifetime& one = lifetimes_[i];
      return std::pair(-static_cast<double>(one.sizeBytes) * static_cast<double>(byArea ? one.last - one.first + 1 : 1),
                       i);
    };
    std::vector<size_t> order = byFirst_;
    std::ranges::sort(order, {}, rank);
    std::vector<size_t> offsets = plan_.offsets, placed;  // by offset
    size_t peak = bottom;
    for (const size_t tensor : order) {
      offsets[tensor] = lowestGap(tensor, bottom, placed, offsets);
      peak = std::max(peak, offsets[tensor] + sizes_[tensor]);
      placed.insert(std::ranges::upper_bound(placed, offsets[tensor], {}, [&](size_t i) { return offsets[i]; }),
                    tensor);
    }
    plan_.meetings += order.size() * order.size() / 2;
    if (peak >= plan_.peakBytes) return;
    plan_.peakBytes = peak;
    plan_.offsets = std::move(offsets);
  }

  size_t lowestGap(size_t tensor, size_t bottom, const std::vector<size_t>& placed,
                   const std::vector<size_t>& offsets) const {
    const Lifetime& own = lifetimes_[tensor];
    size_t free = bottom;  // the highest end of those that live at the same time, so far
    for (const size_t other : placed) {
      const Lifetime& its = lifetimes_[other];
      if (its.last < own.first || its.first > own.last) continue;
      if (free + sizes_[tensor] <= offsets[other]) break;
      free = std::max(free, offsets[other] + sizes_[other]);
    }
    return free;
  }

  const std::vector<Lifetime>& lifetimes_;
  std::vector<size_t> sizes_;             // aligned
  std::vector<size_t> byFirst_, byLast_;  // tensors; after placeAtBottom those not at the bottom
  MemoryPlan plan_;
};

}  // namespace

MemoryPlan planMemory(const std::vector<Lifetime>& lifetimes, size_t alignment) {
  return Planner(lifetimes, alignment).run();
}

}  // namespace opkit
