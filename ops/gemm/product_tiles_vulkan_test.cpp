#ifdef OPKIT_HAS_VULKAN
#include "ops/gemm/product_tiles_vulkan.h"

#include <gtest/gtest.h>

namespace opkit::ops::gemm {
namespace {

DeviceCaps device(const std::string& name) {
  DeviceCaps caps;
  caps.deviceClass = *deviceClassNamed(name);
  caps.workGroup = 1024;
  return caps;
}

ProductTile chosen(const ProductSize& size, const DeviceCaps& caps) {
  const std::vector<ProductTile> tiles = productTilesOf(size, caps);
  return tiles[standardTile(tiles, size, caps)];
}

TEST(ProductTiles, SuitTheProductAndTheDevice) {
  struct Row {
    const char* deviceClass;
    ProductSize size;
    int64_t rows, columns, slices;
  };
  const Row rows[] = {{"discrete", {1024, 1024, 1024, 1}, 64, 64, 3},  {"discrete", {4096, 4096, 4096, 1}, 128, 128, 1},
                      {"discrete", {20, 40960, 512, 1}, 32, 128, 2},   {"discrete", {40960, 20, 512, 1}, 128, 32, 2},
                      {"discrete", {33, 33, 64, 1000}, 64, 64, 1},     {"discrete", {16, 16, 1 << 20, 1}, 32, 32, 256},
                      {"integrated", {4096, 4096, 4096, 1}, 64, 64, 1}};
  for (const Row& row : rows) {
    const DeviceCaps caps = device(row.deviceClass);
    const ProductTile tile = chosen(row.size, caps);
    const ProductSlices slices = ProductSlices::of(row.size, tile, caps);
    EXPECT_EQ(tile.rows, row.rows) << row.size.toString();
    EXPECT_EQ(tile.columns, row.columns) << row.size.toString();
    EXPECT_EQ(slices.count, row.slices) << row.size.toString();
  }
  EXPECT_TRUE(productTilesOf({1024, 1024, 1024, 1}, device("software")).empty());
}

TEST(ProductTiles, KeepWithinTheDevice) {
  DeviceCaps caps = device("discrete");
  caps.workGroup = 128;
  for (const ProductTile& tile : productTilesOf({4096, 4096, 64, 1}, caps))
    EXPECT_LE(tile.localSizeX() * tile.localSizeY(), 128u);
  caps.loopIterations = 1000;
  const ProductSlices slices = ProductSlices::of({64, 64, 100000, 1}, {32, 32, 4}, caps);
  EXPECT_LE(slices.loopPasses(), 1000);
  EXPECT_GE(slices.count * slices.depth, 100000);
}

TEST(ProductTiles, SlicesCoverTheDepth) {
  for (const int64_t depth : {1, 15, 16, 17, 255, 1000, 1024, 65527})
    for (const int64_t wanted : {1, 2, 3, 7, 60})
      for (const bool atLeast : {false, true}) {
        const ProductSlices slices = ProductSlices::cut(depth, wanted, atLeast);
        EXPECT_EQ(slices.depth % 16, 0);
        EXPECT_GE(slices.count * slices.depth, depth);
        EXPECT_LT((slices.count - 1) * slices.depth, depth) << "an empty slice";
        if (wanted == 1) {
          EXPECT_EQ(slices.count, 1);
        }
        if (atLeast && depth >= 16 * wanted) {
          EXPECT_GE(slices.count, wanted);
        }
      }
}

TEST(ProductTiles, ShapeClassesArePowersOfTwo) {
  EXPECT_EQ((ProductSize{65, 128, 1, 3}).shapeClass(), (ProductSize{128, 100, 1, 4}).shapeClass());
  EXPECT_NE((ProductSize{64, 128, 1, 3}).shapeClass(), (ProductSize{65, 128, 1, 3}).shapeClass());
}

}  // namespace
}  // namespace opkit::ops::gemm
#endif
