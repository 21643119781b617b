// Raster tiles: plans for regions whose sides run along different dimensions (transposes), which a device reads by the
// sector. A work group moves a box of such a region through shared memory (shaders/raster/raster_tiles.comp), with runs
// of both sides long enough for full sectors. Decision 0040 has the figures.
#pragma once

#include <array>
#include <optional>

#include "engine/backend/vulkan/vulkan_execution.h"

namespace opkit::vulkan {

struct TilePlan {
  static constexpr size_t kRank = 6;
  static constexpr size_t kBoxRank = 4;
  static constexpr uint32_t kBanks = 32;         // of shared memory, 4 bytes each
  static constexpr int64_t kSharedWords = 4096;  // 16 KiB, which every device has

  Region region;                           // kRank dimensions; the box spans the last kBoxRank
  std::array<uint32_t, kBoxRank> box{};    // extents
  std::array<uint32_t, kBoxRank> order{};  // dimensions of the box by distance in the source, nearest first
  uint32_t gapEvery = 1;                   // words of the tile between gaps of `gap` words
  uint32_t gap = 0;

  int64_t area() const;    // words of a box
  int64_t groups() const;  // boxes of the region
  /// Word of shared memory, within a plane, for word `i` of the box in the source's order.
  int64_t slotOf(int64_t i) const { return i + i / gapEvery * gap; }
  /// Passes of shared memory per ideal pass, of whole boxes: the mean over the loads' writes and the stores' reads.
  double bankPasses() const;
};

/// A box whose source repeats along a dimension: an invocation loads a word and stores several copies.
struct CopyPlan {
  static constexpr int64_t kMost = 8;              // copies: loads become an eighth of the stores
  static constexpr int64_t kLeastItems = 1 << 14;  // fewer leave a device idle

  Region region;         // at most TilePlan::kRank dimensions, ordered like the box's
  size_t dimension = 0;  // of the region, with all its copies
  int64_t perItem = 1;   // copies that one invocation stores
};

/// Copies for a region of words ordered by descending destination stride. perItem is 1 if the source does not repeat,
/// if the stores of an invocation's neighbours would not stay neighbours, or if the device's class has no sectors.
CopyPlan planCopies(const Region& region, size_t wordBytes, const DeviceClass& device);

/// Consecutive words of the source, at least, that `lanes` words in the order of the destination read.
int64_t sourceRun(const Region& region, int64_t lanes);

/// The box for a region of words, of at most six dimensions ordered by descending destination stride (planRegion).
/// Nothing if one invocation per word in the destination's order reads full sectors already, if no box would read
/// longer runs, or if the device's class has no sectors.
std::optional<TilePlan> planTiles(const Region& region, size_t wordBytes, const DeviceClass& device);

}  // namespace opkit::vulkan
