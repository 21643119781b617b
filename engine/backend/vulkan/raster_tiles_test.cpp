#include "engine/backend/vulkan/raster_tiles.h"

#include <gtest/gtest.h>

#include <numeric>
#include <set>

#include "engine/backend/device_class.h"
#include "engine/backend/host/host_raster.h"

namespace opkit::vulkan {
namespace {

const DeviceClass& classNamed(const char* name) { return **deviceClassNamed(name); }

/// The region of a Transpose: output axis d is input axis perm[d].
Region transposed(const Shape& shape, const std::vector<size_t>& perm) {
  const DimVector from = contiguousStrides(shape);
  Region region;
  for (const size_t axis : perm) {
    region.size.push_back(shape[axis]);
    region.sourceStrides.push_back(from[axis]);
  }
  region.strides = contiguousStrides(region.size);
  return planRegion(region);
}

std::optional<TilePlan> tilesFor(const Shape& shape, const std::vector<size_t>& perm, size_t bytes,
                                 const char* device = "discrete") {
  return planTiles(transposed(shape, perm), bytes, classNamed(device));
}

/// Bytes used per byte of the sectors that subgroups of `lanes` touch at one access to a whole box of a region whose
/// buffer begins at a sector: in the source's order, or in the destination's.
double efficiency(const TilePlan& plan, size_t wordBytes, int64_t lanes, bool source, int64_t sector) {
  constexpr size_t kFirst = TilePlan::kRank - TilePlan::kBoxRank;
  const DimVector& strides = source ? plan.region.sourceStrides : plan.region.strides;
  const auto bytes = static_cast<int64_t>(wordBytes);
  int64_t used = 0, touched = 0;
  for (int64_t first = 0; first < plan.area(); first += lanes) {
    std::set<int64_t> sectors;
    for (int64_t i = first; i < std::min(first + lanes, plan.area()); ++i) {
      int64_t rest = i, at = source ? plan.region.sourceOffset : plan.region.offset;
      for (size_t k = 0; k < TilePlan::kBoxRank; ++k) {
        const size_t d = source ? plan.order[k] : TilePlan::kBoxRank - 1 - k;
        at += rest % plan.box[d] * strides[d + kFirst];
        rest /= plan.box[d];
      }
      used += bytes;
      sectors.insert(at * bytes / sector);
    }
    touched += static_cast<int64_t>(sectors.size()) * sector;
  }
  return static_cast<double>(used) / static_cast<double>(touched);
}

struct Case {
  Shape shape;
  std::vector<size_t> perm;
};

/// Aligned extents, as networks have them.
const Case kAligned[] = {{{256, 512}, {1, 0}},
                         {{8, 256, 512}, {0, 2, 1}},
                         {{1, 64, 128, 128}, {0, 2, 3, 1}},
                         {{1, 128, 128, 64}, {0, 3, 1, 2}},
                         {{4, 32, 8, 64, 16}, {4, 2, 0, 3, 1}},
                         {{2, 3, 128, 128}, {0, 2, 3, 1}},
                         {{2, 128, 128, 3}, {0, 3, 1, 2}},
                         {{2, 4, 64, 64}, {0, 2, 3, 1}},
                         {{2, 64, 64, 4}, {0, 3, 1, 2}},
                         {{1, 16, 2, 2, 64, 64}, {0, 1, 4, 2, 5, 3}}};

TEST(RasterTiles, BothSidesOfAlignedTransposesUseWholeSectors) {
  for (const auto& [shape, perm] : kAligned)
    for (const size_t bytes : {1, 2, 4, 8, 16})
      for (const char* device : {"discrete", "integrated"}) {
        const auto tiles = tilesFor(shape, perm, bytes, device);
        if (!tiles) continue;  // a word of 16 bytes may fill sectors by itself
        for (const int64_t lanes : {32, 64})
          for (const bool source : {true, false})
            EXPECT_GE(efficiency(*tiles, bytes, lanes, source, 32), 0.9)
                << toString(shape) << " " << bytes << " bytes, " << device << (source ? ", source" : ", destination");
      }
}

TEST(RasterTiles, BanksDoNotConflict) {
  for (const auto& [shape, perm] : kAligned)
    for (const size_t bytes : {1, 2, 4, 8, 16})
      if (const auto tiles = tilesFor(shape, perm, bytes)) {
        EXPECT_LE(tiles->bankPasses(), 1.1) << toString(shape) << " " << bytes << " bytes";
      }
}

TEST(RasterTiles, SharedMemoryIsWhatEveryDeviceHas) {
  for (int64_t rows = 2; rows < 100; rows += 3)
    for (int64_t columns = 2; columns < 100; columns += 5)
      for (const size_t bytes : {1, 2, 4, 8, 16})
        if (const auto tiles = tilesFor({3, rows, columns, 7}, {3, 2, 0, 1}, bytes)) {
          const int64_t words = tiles->area() + tiles->area() / tiles->gapEvery * tiles->gap;
          EXPECT_LE(words * static_cast<int64_t>(std::max<size_t>(bytes / 4, 1)), TilePlan::kSharedWords);
        }
}

TEST(RasterTiles, FillADevice) {
  EXPECT_GE(tilesFor({8, 256, 512}, {0, 2, 1}, 4)->groups(), 528);
  EXPECT_GE(tilesFor({1, 64, 128, 128}, {0, 2, 3, 1}, 4)->groups(), 528);
}

TEST(RasterTiles, OnlyWhatCannotBeCoalescedGetsTiles) {
  EXPECT_FALSE(tilesFor({256, 512}, {1, 0}, 4, "software"));
  EXPECT_TRUE(tilesFor({256, 512}, {1, 0}, 4));
  EXPECT_FALSE(tilesFor({8, 128, 16, 64}, {0, 2, 1, 3}, 4));  // runs of 64 elements
  EXPECT_FALSE(tilesFor({8, 128, 16, 8}, {0, 2, 1, 3}, 4));   // runs of a sector
  EXPECT_TRUE(tilesFor({8, 128, 16, 5}, {0, 2, 1, 3}, 4));    // runs of 20 bytes
  const DeviceClass& discrete = classNamed("discrete");
  EXPECT_FALSE(planTiles({0, 0, 0, {100, 100}, {200, 2}, {100, 1}}, 4, discrete));    // a slice by twos
  EXPECT_FALSE(planTiles({0, 99, 0, {100, 100}, {100, -1}, {100, 1}}, 4, discrete));  // a mirror
  EXPECT_FALSE(planTiles({0, 0, 0, {100, 100}, {1, 0}, {100, 1}}, 4, discrete));      // a broadcast
}

TEST(RasterTiles, TheBoxSpansTheLastDimensions) {
  const auto tiles = tilesFor({8, 256, 512}, {0, 2, 1}, 4);
  EXPECT_EQ(tiles->box, (std::array<uint32_t, 4>{1, 1, 32, 32}));
  EXPECT_EQ(tiles->order[0], 2u);
  EXPECT_EQ(tiles->gapEvery, 32u);
  EXPECT_EQ(tiles->gap, 1u);
  EXPECT_EQ(tiles->groups(), 8 * 8 * 16);
  EXPECT_EQ(tiles->region.size, (Shape{1, 1, 1, 8, 512, 256}));
}

CopyPlan copies(const Region& region, size_t bytes = 4, const char* device = "discrete") {
  return planCopies(region, bytes, classNamed(device));
}

TEST(RasterCopies, RowsThatRepeatAreLoadedOnceForEight) {
  const Region rows{0, 0, 0, {128, 16, 512}, {512, 0, 1}, {8192, 512, 1}};
  EXPECT_EQ(copies(rows).perItem, 8);
  EXPECT_EQ(copies(rows).dimension, 1u);
  EXPECT_EQ(copies(rows, 4, "software").perItem, 1);
  EXPECT_EQ(copies({0, 0, 0, {16, 3, 512}, {512, 0, 1}, {1536, 512, 1}}).perItem, 1);       // too few
  EXPECT_EQ(copies({0, 0, 0, {128, 3, 512}, {512, 0, 1}, {1536, 512, 1}}).perItem, 3);      // all of them
  EXPECT_EQ(copies({0, 0, 0, {9000, 16, 5}, {5, 0, 1}, {80, 5, 1}}).perItem, 1);            // stores would have gaps
  EXPECT_EQ(copies({0, 0, 0, {128, 16, 512}, {8192, 512, 1}, {8192, 512, 1}}).perItem, 1);  // nothing repeats
}

TEST(RasterCopies, AnElementThatRepeatsIsStoredInPartsOfItsRun) {
  const CopyPlan plan = copies({0, 0, 0, {1024, 1024}, {1, 0}, {1024, 1}});
  EXPECT_EQ(plan.perItem, 8);
  EXPECT_EQ(plan.dimension, 1u);
  EXPECT_EQ(plan.region.size, (Shape{1024, 8, 128}));
  EXPECT_EQ(plan.region.strides, (std::vector<int64_t>{1024, 128, 1}));
  EXPECT_EQ(plan.region.sourceStrides, (std::vector<int64_t>{1, 0, 0}));
  EXPECT_EQ(copies({0, 0, 0, {1024, 1021}, {1, 0}, {1021, 1}}).perItem, 1);  // a prime
}

TEST(RasterCopies, TilesOfBytesFillSectorsOfTheSmallestSubgroups) {
  EXPECT_TRUE(tilesFor({1, 4, 64, 2, 64}, {0, 1, 2, 4, 3}, 1));
}

}  // namespace
}  // namespace opkit::vulkan
