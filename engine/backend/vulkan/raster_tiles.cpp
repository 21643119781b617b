#include "engine/backend/vulkan/raster_tiles.h"

#include <algorithm>
#include <numeric>

#include "engine/backend/device_class.h"
#include "engine/base/divide.h"

namespace opkit::vulkan {
namespace {

constexpr int64_t kRunSectors = 4;        // a run of so many sectors wastes little at unaligned ends
constexpr int64_t kMostRunWords = 32;     // what the smallest subgroups reach at once; also keeps tiles of bytes small
constexpr int64_t kPreferredArea = 1024;  // words; four for each of 256 invocations
constexpr int64_t kGapShare = 16;         // gaps take up to this part of a tile

using Extents = Shape;

/// Dimensions by ascending distance, without those that repeat.
std::vector<size_t> nearestFirst(const DimVector& strides) {
  std::vector<size_t> order;
  for (size_t d = strides.size(); d-- > 0;)
    if (strides[d] != 0) order.push_back(d);
  std::ranges::stable_sort(order, {}, [&](size_t d) { return std::abs(strides[d]); });
  return order;
}

/// One side of a region.
struct Side {
  const Shape& size;
  const DimVector& strides;
  std::vector<size_t> order;

  Side(const Shape& extents, const DimVector& distances)
      : size(extents), strides(distances), order(nearestFirst(distances)) {}

  /// Calls visit(d, run) for the dimensions that continue a run of `run` words, until it returns the run's end.
  template <class Visit>
  int64_t walk(Visit&& visit) const {
    int64_t run = 1;
    for (const size_t d : order) {
      if (std::abs(strides[d]) != std::abs(strides[order[0]]) * run) break;
      const int64_t extent = visit(d, run);
      run *= extent;
      if (extent < size[d]) break;
    }
    return run;
  }
  /// Words of a box that follow one another, in units of the nearest distance.
  int64_t run(const Extents& box) const {
    return walk([&](size_t d, int64_t) { return box[d]; });
  }
  /// Enlarges the box until its run has `target` words, in at most TilePlan::kBoxRank dimensions.
  void grow(int64_t target, Extents& box) const {
    walk([&](size_t d, int64_t run) {
      const int64_t wanted = ceilDiv(target, run);
      const bool isFull = std::ranges::count_if(box, [](int64_t e) { return e > 1; }) == TilePlan::kBoxRank;
      if (wanted > box[d] && (box[d] > 1 || !isFull)) box[d] = size[d] <= wanted + wanted / 2 ? size[d] : wanted;
      return box[d];
    });
  }
};

int64_t product(const Extents& values) {
  return std::accumulate(values.begin(), values.end(), int64_t{1}, std::multiplies<>());
}

/// The innermost dimensions that `lanes` words in the destination's order cover.
Extents flatBox(const Region& region, int64_t lanes) {
  Extents box(region.size.size(), 1);
  int64_t covered = 1;
  for (size_t d = box.size(); d-- > 0 && covered < lanes; covered *= box[d])
    box[d] = std::min(region.size[d], ceilDiv(lanes, covered));
  return box;
}

/// Words of the source that `lanes` words in the destination's order read.
int64_t distinctWords(const Region& region, int64_t lanes) {
  Extents box = flatBox(region, lanes);
  for (size_t d = 0; d < box.size(); ++d)
    if (region.sourceStrides[d] == 0) box[d] = 1;
  return product(box);
}

/// True if every run of the source begins and ends at a sector.
bool readsWholeSectors(const Region& region, int64_t run, int64_t wordBytes, int64_t sector) {
  if (run * wordBytes % sector != 0 || region.sourceOffset * wordBytes % sector != 0) return false;
  return std::ranges::all_of(
      region.sourceStrides, [&](int64_t stride) { return std::abs(stride) < run || stride * wordBytes % sector == 0; });
}

int64_t sharedWords(int64_t area, int64_t wordBytes) {
  return (area + area / kGapShare) * std::max<int64_t>(wordBytes / 4, 1);
}

/// A box with runs of `target` words on both sides.
Extents boxOf(const Region& region, int64_t target) {
  Extents box(region.size.size(), 1);
  const Side source(region.size, region.sourceStrides), destination(region.size, region.strides);
  destination.grow(target, box);
  source.grow(target, box);
  return box;
}

/// Runs of `wanted` words, shorter if shared memory demands it, longer while boxes stay small.
Extents bestBox(const Region& region, int64_t wanted, int64_t wordBytes) {
  Extents box = boxOf(region, wanted);
  while (wanted > 1 && sharedWords(product(box), wordBytes) > TilePlan::kSharedWords) box = boxOf(region, wanted /= 2);
  for (Extents next = box;; box = next) {
    next = boxOf(region, wanted *= 2);
    const int64_t area = product(next);
    if (next == box || area > kPreferredArea || sharedWords(area, wordBytes) > TilePlan::kSharedWords) return box;
  }
}

/// The region with the dimensions of the box last, filled up to kRank dimensions with extents of 1.
TilePlan arrange(const Region& region, const Extents& extents) {
  TilePlan plan{.region = {region.source, region.sourceOffset, region.offset, {}, {}, {}}};
  std::vector<size_t> order(extents.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_partition(order.begin(), order.end(), [&](size_t d) { return extents[d] == 1; });
  const size_t missing = TilePlan::kRank - order.size();
  plan.region.size.assign(missing, 1);
  plan.region.sourceStrides.assign(missing, 0);
  plan.region.strides.assign(missing, 0);
  plan.box.fill(1);
  for (const size_t d : order) {
    const size_t at = plan.region.size.size();
    if (at >= TilePlan::kRank - TilePlan::kBoxRank)
      plan.box[at - (TilePlan::kRank - TilePlan::kBoxRank)] = static_cast<uint32_t>(extents[d]);
    plan.region.size.push_back(region.size[d]);
    plan.region.sourceStrides.push_back(region.sourceStrides[d]);
    plan.region.strides.push_back(region.strides[d]);
  }
  std::iota(plan.order.rbegin(), plan.order.rend(), 0u);
  std::ranges::stable_sort(plan.order, {}, [&](uint32_t d) {
    const int64_t stride = std::abs(plan.region.sourceStrides[d + TilePlan::kRank - TilePlan::kBoxRank]);
    return stride == 0 ? INT64_MAX : stride;
  });
  return plan;
}

/// For each word in the destination's order, its number in the source's.
std::vector<int64_t> storedOrder(const TilePlan& plan) {
  std::array<int64_t, TilePlan::kBoxRank> steps{};
  int64_t step = 1;
  for (const uint32_t d : plan.order) {
    steps[d] = step;
    step *= plan.box[d];
  }
  std::vector<int64_t> order(static_cast<size_t>(plan.area()));
  for (size_t i = 0; i < order.size(); ++i) {
    auto rest = static_cast<int64_t>(i);
    for (size_t d = TilePlan::kBoxRank; d-- > 0; rest /= plan.box[d]) order[i] += rest % plan.box[d] * steps[d];
  }
  return order;
}

/// Passes of all subgroups of kBanks invocations that reach these slots.
template <class SlotOf>
int64_t passesOver(int64_t count, SlotOf&& slotOf) {
  int64_t passes = 0;
  for (int64_t first = 0; first < count; first += TilePlan::kBanks) {
    std::array<int, TilePlan::kBanks> load{};
    for (int64_t i = first; i < std::min<int64_t>(first + TilePlan::kBanks, count); ++i)
      ++load[static_cast<size_t>(slotOf(i)) % TilePlan::kBanks];
    passes += *std::ranges::max_element(load);
  }
  return passes;
}

/// Gaps at the banks, at the rows of the tile, or where both meet: the first without conflicts, else the least.
void chooseGap(TilePlan& plan) {
  std::vector<uint32_t> distances{TilePlan::kBanks};
  uint32_t step = 1;
  for (const uint32_t d : plan.order) {
    step *= plan.box[d];
    distances.push_back(step);
    distances.push_back(std::lcm(step, TilePlan::kBanks));
  }
  TilePlan tried = plan;
  double least = plan.bankPasses();
  for (tried.gap = 1; tried.gap <= TilePlan::kBanks / 2 && least > 1; ++tried.gap)
    for (const uint32_t distance : distances) {
      if (distance < tried.gap * kGapShare) continue;
      tried.gapEvery = distance;
      const double passes = tried.bankPasses();
      if (passes < least) plan = tried;
      least = std::min(least, passes);
    }
}

}  // namespace

int64_t TilePlan::area() const { return std::accumulate(box.begin(), box.end(), int64_t{1}, std::multiplies<>()); }

int64_t TilePlan::groups() const {
  int64_t count = 1;
  for (size_t d = 0; d < kRank; ++d)
    count *= d < kRank - kBoxRank ? region.size[d] : ceilDiv(region.size[d], box[d - (kRank - kBoxRank)]);
  return count;
}

double TilePlan::bankPasses() const {
  const std::vector<int64_t> stored = storedOrder(*this);
  const int64_t passes = passesOver(area(), [&](int64_t i) { return slotOf(i); }) +
                         passesOver(area(), [&](int64_t i) { return slotOf(stored[static_cast<size_t>(i)]); });
  return static_cast<double>(passes) / static_cast<double>(2 * ceilDiv(area(), kBanks));
}

int64_t sourceRun(const Region& region, int64_t lanes) {
  return Side(region.size, region.sourceStrides).run(flatBox(region, lanes));
}

CopyPlan planCopies(const Region& region, size_t wordBytes, const DeviceClass& device) {
  CopyPlan plan{.region = region};
  const auto sector = static_cast<int64_t>(device.sectorBytes);
  const int64_t fitting = product(region.size) / CopyPlan::kLeastItems;
  if (sector == 0 || fitting < 2) return plan;
  int64_t inside = static_cast<int64_t>(wordBytes);  // bytes of the dimensions inside d
  for (size_t d = region.size.size(); d-- > 0; inside *= region.size[d]) {
    if (region.sourceStrides[d] != 0 || region.size[d] < 2) continue;
    int64_t copies = std::min({CopyPlan::kMost, fitting, region.size[d]});
    if (inside < kRunSectors * sector) {
      // Copies of one run of an innermost dimension, its parts apart.
      while (copies > 1 && region.size[d] % copies != 0) --copies;
      const int64_t part = region.size[d] / copies;
      if (copies < 2 || part * inside < kRunSectors * sector || region.size.size() == TilePlan::kRank) continue;
      const auto at = static_cast<std::ptrdiff_t>(d);
      plan.region.size[d] = part;
      plan.region.size.insert(plan.region.size.begin() + at, copies);
      plan.region.strides.insert(plan.region.strides.begin() + at, part * region.strides[d]);
      plan.region.sourceStrides.insert(plan.region.sourceStrides.begin() + at, 0);
    }
    plan.dimension = d;
    plan.perItem = copies;
    return plan;
  }
  return plan;
}

std::optional<TilePlan> planTiles(const Region& region, size_t wordBytes, const DeviceClass& device) {
  const auto bytes = static_cast<int64_t>(wordBytes), sector = static_cast<int64_t>(device.sectorBytes);
  const int64_t lanes = std::min(kRunSectors * sector / bytes, kMostRunWords);
  if (region.size.size() < 2 || region.size.size() > TilePlan::kRank || lanes == 0) return std::nullopt;
  const int64_t run = sourceRun(region, lanes);
  if (run >= std::min(lanes, distinctWords(region, lanes)) || readsWholeSectors(region, run, bytes, sector))
    return std::nullopt;
  const Extents box = bestBox(region, lanes, bytes);
  if (Side(region.size, region.sourceStrides).run(box) < 2 * run) return std::nullopt;
  TilePlan plan = arrange(region, box);
  chooseGap(plan);
  return plan;
}

}  // namespace opkit::vulkan
