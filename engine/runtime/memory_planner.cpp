#include "engine/runtime/memory_planner.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <numeric>
#include <set>

namespace opkit {
namespace {

// Limits on pairs of tensors that live together, per try and in all: enough for two thousand tensors that all do.
// Beyond that the walk in time gives the plan.
constexpr size_t kMostPairs = size_t{1} << 21;
constexpr size_t kMostMeetings = size_t{1} << 25;

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

/// Selects one of the gaps that are large enough.
enum class Gap { Lowest, Tightest };

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
    if (plan_.peakBytes > plan_.lowerBoundBytes && findPairs()) tryOrders(bottom);
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

  /// Finds the tensors that live together; false if that would take too long.
  bool findPairs() {
    size_t live = 0, pairs = 0;
    sweep([&](size_t) { --live; }, [&](size_t) { pairs += live++; });
    if (pairs > kMostPairs) return false;
    partners_.resize(lifetimes_.size());
    std::vector<size_t> now, place(lifetimes_.size());
    sweep(
        [&](size_t tensor) {
          place[now.back()] = place[tensor];
          now[place[tensor]] = now.back();
          now.pop_back();
        },
        [&](size_t tensor) {
          for (const size_t other : now) {
            partners_[tensor].push_back(other);
            partners_[other].push_back(tensor);
          }
          place[tensor] = now.size();
          now.push_back(tensor);
        });
    return true;
  }

  void tryOrders(size_t bottom) {
    const auto size = [&](size_t i) { return static_cast<double>(lifetimes_[i].sizeBytes); };
    const auto steps = [&](size_t i) { return static_cast<double>(lifetimes_[i].last - lifetimes_[i].first + 1); };
    const std::function<double(size_t)> ranks[] = {
        [&](size_t i) { return size(i); },
        [&](size_t i) { return size(i) * steps(i); },
        [&](size_t i) { return steps(i); },
        [&](size_t i) { return -static_cast<double>(lifetimes_[i].first); },
        [&](size_t i) { return static_cast<double>(lifetimes_[i].last); },
    };
    std::vector<size_t> inOrder = byFirst_;
    std::ranges::sort(inOrder);  // equal ranks stay in the caller's order
    for (const auto& rank : ranks) {
      std::vector<size_t> order = inOrder;
      std::ranges::stable_sort(order, [&](size_t a, size_t b) { return rank(a) > rank(b); });
      for (const Gap gap : {Gap::Lowest, Gap::Tightest}) {
        if (plan_.peakBytes == plan_.lowerBoundBytes || plan_.meetings > kMostMeetings) return;
        std::vector<size_t> offsets = plan_.offsets;  // of the bottom
        const size_t peak = place(order, bottom, gap, offsets);
        if (peak >= plan_.peakBytes) continue;
        plan_.peakBytes = peak;
        plan_.offsets = std::move(offsets);
      }
    }
  }

  /// Places all tensors in `order`; returns the arena's size.
  size_t place(const std::vector<size_t>& order, size_t bottom, Gap gap, std::vector<size_t>& offsets) {
    size_t peak = bottom;
    std::vector<bool> placed(lifetimes_.size(), false);
    for (const size_t tensor : order) {
      offsets[tensor] = chooseOffset(tensor, bottom, gap, placed, offsets);
      placed[tensor] = true;
      peak = std::max(peak, offsets[tensor] + sizes_[tensor]);
    }
    return peak;
  }

  size_t chooseOffset(size_t tensor, size_t bottom, Gap gap, const std::vector<bool>& placed,
                      const std::vector<size_t>& offsets) {
    std::vector<size_t>& others = others_;
    others.clear();
    for (const size_t partner : partners_[tensor])
      if (placed[partner]) others.push_back(partner);
    plan_.meetings += partners_[tensor].size();
    std::ranges::sort(others, {}, [&](size_t other) { return offsets[other]; });
    const size_t size = sizes_[tensor];
    size_t free = bottom;  // highest end of the placed tensors that live at the same time, so far
    size_t best = SIZE_MAX, tightest = SIZE_MAX;
    for (const size_t other : others) {
      if (free + size <= offsets[other] && offsets[other] - free < tightest) {
        best = free;
        tightest = offsets[other] - free;
        if (gap == Gap::Lowest) return best;
      }
      free = std::max(free, offsets[other] + sizes_[other]);
    }
    return best == SIZE_MAX ? free : best;
  }

  const std::vector<Lifetime>& lifetimes_;
  std::vector<size_t> sizes_;             // aligned
  std::vector<size_t> byFirst_, byLast_;  // tensors; after placeAtBottom those not at the bottom
  std::vector<std::vector<size_t>> partners_;
  std::vector<size_t> others_;  // of the tensor that is being placed
  MemoryPlan plan_;
};

}  // namespace

MemoryPlan planMemory(const std::vector<Lifetime>& lifetimes, size_t alignment) {
  return Planner(lifetimes, alignment).run();
}

}  // namespace opkit
