#include "engine/graph/passes/region_compose.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace opkit {
namespace {

/// Every (source element, destination element) pair of a region, by destination.
std::map<int64_t, int64_t> elementsOf(const std::vector<Region>& regions) {
  std::map<int64_t, int64_t> pairs;
  for (const Region& region : regions) {
    forEachIndex(region.size, [&](const DimVector& index) {
      int64_t from = region.sourceOffset, to = region.offset;
      for (size_t d = 0; d < index.size(); ++d) {
        from += index[d] * region.sourceStrides[d];
        to += index[d] * region.strides[d];
      }
      EXPECT_TRUE(pairs.emplace(to, from).second) << "element " << to << " is written twice";
    });
  }
  return pairs;
}

/// A box of a row-major tensor, seen with its axes in any order.
Region anyBox(std::mt19937& random, const Shape& shape, bool intoTensor) {
  const DimVector strides = contiguousStrides(shape);
  std::vector<size_t> order(shape.size());
  for (size_t d = 0; d < order.size(); ++d) order[d] = d;
  std::shuffle(order.begin(), order.end(), random);
  Region region;
  int64_t dense = 1;
  for (const size_t d : order) {
    const auto first = static_cast<int64_t>(random() % static_cast<uint64_t>(shape[d]));
    const int64_t count = 1 + static_cast<int64_t>(random() % static_cast<uint64_t>(shape[d] - first));
    const bool mirrored = random() % 4 == 0;
    region.size.push_back(count);
    (intoTensor ? region.strides : region.sourceStrides).push_back(mirrored ? -strides[d] : strides[d]);
    (intoTensor ? region.offset : region.sourceOffset) += (mirrored ? first + count - 1 : first) * strides[d];
    (intoTensor ? region.sourceStrides : region.strides).push_back(dense);
    dense *= count;
  }
  return region;
}

TEST(RegionCompose, AgreesWithElementByElement) {
  std::mt19937 random(5);
  // The same 24 or 36 elements, seen with different axes by the writer and by the reader.
  const std::vector<std::vector<Shape>> views = {{{2, 3, 4}, {6, 4}, {24}, {4, 6}, {3, 8}, {2, 2, 2, 3}},
                                                 {{36}, {6, 6}, {4, 9}, {3, 3, 4}, {12, 3}}};
  int composed = 0;
  for (int round = 0; round < 3000; ++round) {
    const std::vector<Shape>& shapes = views[random() % views.size()];
    const Region writer = anyBox(random, shapes[random() % shapes.size()], true);
    const Region reader = anyBox(random, shapes[random() % shapes.size()], false);
    const auto direct = composeRegions(reader, writer);
    if (!direct) continue;
    ++composed;
    const auto written = elementsOf({writer}), read = elementsOf({reader});
    std::map<int64_t, int64_t> expected;
    for (const auto& [to, through] : read)
      if (const auto found = written.find(through); found != written.end()) expected[to] = found->second;
    ASSERT_EQ(elementsOf(*direct), expected) << "round " << round;
    std::vector<Region> merged = *direct;
    mergeRegions(merged);
    ASSERT_EQ(elementsOf(merged), expected) << "merged, round " << round;
    ASSERT_LE(merged.size(), direct->size());
  }
  EXPECT_GT(composed, 1500);
}

TEST(RegionCompose, RepeatedAndEmptyReaders) {
  const Region writer{0, 5, 0, {4}, {2}, {1}};
  const Region repeat{0, 1, 0, {3, 2}, {0, 1}, {2, 1}};
  const auto direct = composeRegions(repeat, writer);
  ASSERT_TRUE(direct);
  EXPECT_EQ(elementsOf(*direct), (std::map<int64_t, int64_t>{{0, 7}, {1, 9}, {2, 7}, {3, 9}, {4, 7}, {5, 9}}));
  EXPECT_TRUE(composeRegions({0, 0, 0, {0}, {1}, {1}}, writer)->empty());
  EXPECT_TRUE(composeRegions(contiguousRegion(0, 8, 0, 3), writer)->empty());  // reads elsewhere
}

TEST(RegionCompose, PiecesJoin) {
  std::vector<Region> pieces{contiguousRegion(0, 4, 4, 8), contiguousRegion(0, 0, 0, 4),
                             contiguousRegion(0, 12, 12, 2)};
  mergeRegions(pieces);
  ASSERT_EQ(pieces.size(), 1u);
  EXPECT_EQ(elementCount(pieces[0].size), 14);
}

}  // namespace
}  // namespace opkit
