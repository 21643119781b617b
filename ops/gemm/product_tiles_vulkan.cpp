#include "ops/gemm/product_tiles_vulkan.h"

#include <algorithm>
#include <bit>

#include "engine/base/divide.h"

namespace opkit::ops::gemm {
namespace {

// Square tiles for each size of product, long ones for few rows or few columns. An invocation of an 8 x 8 block reads
// 16 values of shared memory for 64 products; of a 4 x 4 block, 8 for 16.
constexpr ProductTile kTiles[] = {{32, 32, 4}, {64, 64, 4}, {128, 128, 8}, {32, 128, 4}, {128, 32, 4}};

constexpr int64_t kLeastTile = 32;
constexpr int64_t kStep = 16;              // kStep of product_tiles.glsl
constexpr int64_t kLeastSliceDepth = 256;  // a shallower slice writes and reads its sums for too few products
constexpr int64_t kMostSliceDepth = 4096;  // the error of a sum in order grows with its length
constexpr int64_t kMostSlices = 64;        // for the sake of work groups
constexpr int64_t kMaxGroupsX = 65535;

// Iterations of the loop over steps and of the loop over k in each, and their tests.
int64_t passesOf(int64_t depth) { return vulkan::loopPasses({ceilDiv(depth, kStep), kStep}); }

int64_t deepestSlice(const DeviceCaps& device) {
  int64_t depth = kMostSliceDepth;
  while (depth > kStep && static_cast<uint64_t>(passesOf(depth)) > device.loopIterations) depth /= 2;
  return depth;
}

// In arbitrary units: products of the padded tiles, what they wait for operands, and idle compute units.
double estimate(const ProductTile& tile, const ProductSize& size, const DeviceCaps& device) {
  constexpr double kOperandCost = 32;  // of one operand's value, in products
  const ProductSlices slices = ProductSlices::of(size, tile, device);
  const auto tiles = static_cast<double>(tile.tiles(size));
  const auto results = static_cast<double>(tile.rows * tile.columns);
  const double waits = kOperandCost * static_cast<double>(tile.rows + tile.columns) / results;
  const double filled =
      tiles * static_cast<double>(slices.count) / static_cast<double>(device.deviceClass->groupsToFill);
  return tiles * results * (1 + waits) / std::min(filled, 1.0);
}

}  // namespace

std::string ProductSize::shapeClass() const {
  const auto power = [](int64_t extent) {
    return std::bit_width(static_cast<uint64_t>(std::max<int64_t>(extent, 1)) - 1);
  };
  return fmt::format("2^{} x 2^{} x 2^{}, 2^{} matrices", power(rows), power(depth), power(columns), power(matrices));
}

std::string ProductSize::toString() const { return fmt::format("{} x {} x {}, {}", rows, depth, columns, matrices); }

std::vector<ProductTile> productTilesOf(const ProductSize& size, const DeviceCaps& device) {
  const auto suits = [](int64_t tile, int64_t extent) { return tile == kLeastTile || tile / 2 < extent; };
  std::vector<ProductTile> tiles;
  for (const ProductTile& tile : kTiles)
    if (std::max(tile.rows, tile.columns) <= device.deviceClass->largestProductTile &&
        tile.localSizeX() * tile.localSizeY() <= device.workGroup && suits(tile.rows, size.rows) &&
        suits(tile.columns, size.columns))
      tiles.push_back(tile);
  return tiles;
}

ProductSlices ProductSlices::of(const ProductSize& size, const ProductTile& tile, const DeviceCaps& device) {
  const int64_t missing = ceilDiv(device.deviceClass->groupsToFill, std::max<int64_t>(tile.tiles(size), 1));
  const int64_t sums = size.results() * static_cast<int64_t>(sizeof(float));
  const auto memory =
      static_cast<int64_t>(std::min<uint64_t>(device.maxTensorBytes, INT32_MAX)) / std::max<int64_t>(sums, 1);
  int64_t slices = std::min({missing, size.depth / kLeastSliceDepth, kMostSlices, memory});
  slices = std::max({slices, ceilDiv(size.depth, deepestSlice(device)), int64_t{1}});
  const ProductSlices even = cut(size.depth, slices, false);
  return slices == missing && even.count < slices ? cut(size.depth, slices, true) : even;
}

ProductSlices ProductSlices::cut(int64_t depth, int64_t slices, bool atLeast, int64_t step) {
  const int64_t share = ceilDiv(depth, slices);
  const int64_t steps = std::max<int64_t>(atLeast && slices > 1 ? share / step : ceilDiv(share, step), 1);
  return {std::max<int64_t>(ceilDiv(depth, steps * step), 1), steps * step};
}

int64_t ProductSlices::loopPasses() const { return std::max(passesOf(depth), vulkan::loopPasses({count})); }

Result<const Tensor*> ProductSlices::scratch(const Tensor& y, vulkan::Encoder& encoder) const {
  if (count == 1) return nullptr;
  return encoder.scratch({DType::Float32, {count, y.desc.elements()}});
}

Status encodeTuned(const std::string& kind, const ProductSize& size, TensorList inputs, TensorList outputs,
                   vulkan::Encoder& encoder,
                   const std::function<Status(const ProductTile&, TensorList, TensorList, vulkan::Encoder&)>& encode) {
  const std::vector<ProductTile> tiles = productTilesOf(size, encoder.caps());
  const vulkan::Alternatives alternatives{fmt::format("{} {}", kind, size.shapeClass()), tiles.size(),
                                          standardTile(tiles, size, encoder.caps()),
                                          [&](size_t choice, TensorList in, TensorList out, vulkan::Encoder& trial) {
                                            return encode(tiles[choice], in, out, trial);
                                          }};
  OPKIT_ASSIGN(const size_t choice, encoder.choose(alternatives, inputs, outputs));
  return encode(tiles[choice], inputs, outputs, encoder);
}

size_t standardTile(const std::vector<ProductTile>& tiles, const ProductSize& size, const DeviceCaps& device) {
  const auto least =
      std::ranges::min_element(tiles, {}, [&](const ProductTile& tile) { return estimate(tile, size, device); });
  return static_cast<size_t>(least - tiles.begin());
}

Status requireProductTiles(const CreateArgs& args, const ProductSize& size) {
  const std::vector<ProductTile> tiles = productTilesOf(size, args.device);
  if (args.device.deviceClass->largestProductTile == 0)
    return Status::unsupported("{}: class {} keeps tiles of products in registers", args.def.type,
                               args.device.deviceClass->name);
  if (tiles.empty())
    return Status::unsupportedByDevice("{}: a tile in shared memory takes work groups of 64, the device allows {}",
                                       args.def.type, args.device.workGroup);
  if (size.depth == 0)
    return Status::unsupported("{}: tiles in shared memory take a depth of 1 or more", args.def.type);
  int64_t passes = 0;  // of the alternative with the longest loops
  for (const ProductTile& tile : tiles)
    passes = std::max(passes, ProductSlices::of(size, tile, args.device).loopPasses());
  return vulkan::requireLoops(args, passes);
}

vulkan::Groups spreadGroups(int64_t count, int64_t layers) {
  const int64_t x = std::min(count, kMaxGroupsX);
  return {static_cast<uint32_t>(x), static_cast<uint32_t>(ceilDiv(count, x)), static_cast<uint32_t>(layers)};
}

vulkan::Groups productGroups(const ProductTile& tile, const ProductSize& size, int64_t layers) {
  return spreadGroups(tile.rowTiles(size) * tile.columnTiles(size), layers);
}

}  // namespace opkit::ops::gemm
