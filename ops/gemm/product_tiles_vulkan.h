// Tiles of products in shared memory (shaders/include/product_tiles.glsl): which tile, and how many slices of k.
//
// Plain functions, thread-safe. The figures are in docs/decisions/0041-products-on-gpus.md.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/backend/creator.h"
#include "engine/backend/vulkan/vulkan_execution.h"

namespace opkit::ops::gemm {

/// `matrices` products of [rows, depth] and [depth, columns].
struct ProductSize {
  int64_t rows = 1;
  int64_t columns = 1;
  int64_t depth = 1;
  int64_t matrices = 1;

  int64_t results() const { return matrices * rows * columns; }
  /// For the tuner: sizes whose best tile is the same, powers of two apart.
  std::string shapeClass() const;
  std::string toString() const;
};

/// The results of one work group; an invocation makes block x block of them.
struct ProductTile {
  int64_t rows;
  int64_t columns;
  int64_t block;

  uint32_t localSizeX() const { return static_cast<uint32_t>(columns / block); }
  uint32_t localSizeY() const { return static_cast<uint32_t>(rows / block); }
  int64_t rowTiles(const ProductSize& size) const { return (size.rows + rows - 1) / rows; }
  int64_t columnTiles(const ProductSize& size) const { return (size.columns + columns - 1) / columns; }
  int64_t tiles(const ProductSize& size) const { return rowTiles(size) * columnTiles(size) * size.matrices; }
};

/// The tiles for the device's class and work groups of which a product of this size fills more than half each way.
/// Empty if the class has none.
std::vector<ProductTile> productTilesOf(const ProductSize& size, const DeviceCaps& device);

/// Depth is cut into `count` slices of `depth` (a multiple of 16; the last may be shorter), each for other work groups.
struct ProductSlices {
  int64_t count = 1;
  int64_t depth = 16;

  /// More than one where tiles do not fill the device, or a sum would be longer than the device's loops or 4,096 terms.
  static ProductSlices of(const ProductSize& size, const ProductTile& tile, const DeviceCaps& device);
  /// About `slices` of all `depth`: at least as many if `atLeast`, else fewer rather than a short last one.
  /// Their depth is a multiple of `step`.
  static ProductSlices cut(int64_t depth, int64_t slices, bool atLeast, int64_t step = 16);
  /// Passes of an invocation's loops.
  int64_t loopPasses() const;
  /// f32 [count, elements of y] for sums of the slices; null for one slice.
  Result<const Tensor*> scratch(const Tensor& y, vulkan::Encoder& encoder) const;
};

/// Index into `tiles` of the one with the least estimated time. REQUIRES that there is one.
size_t standardTile(const std::vector<ProductTile>& tiles, const ProductSize& size, const DeviceCaps& device);

/// Records a product with the tile that is measured, from the tuning cache, or standardTile. `kind` names the kernel
/// and everything beside the size that affects speed.
Status encodeTuned(const std::string& kind, const ProductSize& size, TensorList inputs, TensorList outputs,
                   vulkan::Encoder& encoder,
                   const std::function<Status(const ProductTile&, TensorList, TensorList, vulkan::Encoder&)>& encode);

/// OK if the device's class computes products of this size through shared memory, within the limits of its loops.
Status requireProductTiles(const CreateArgs& args, const ProductSize& size);

/// A grid of `count` groups along x and y, which shaders number y * gl_NumWorkGroups.x + x, and `layers` along z.
vulkan::Groups spreadGroups(int64_t count, int64_t layers);
/// The grid of a product: tiles along x and y, `layers` (slices and matrices) along z.
vulkan::Groups productGroups(const ProductTile& tile, const ProductSize& size, int64_t layers);
constexpr int64_t kMaxProductLayers = 65535;  // along z of one dispatch

}  // namespace opkit::ops::gemm
