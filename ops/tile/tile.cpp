#include "engine/op/op_registry.h"
#include "ops/tile/tile_parts.h"

namespace opkit::ops::tile {
namespace {

Result<std::vector<TensorDesc>> shapeRule(const ShapeArgs& args) {
  const std::vector<int64_t> repeats = args.integers(1);
  TensorDesc output = args.input(0);
  if (repeats.size() != output.shape.size())
    return Status::invalidArgument("repeats must list {} values, one per axis, got {}", output.shape.size(),
                                   repeats.size());
  for (size_t d = 0; d < repeats.size(); ++d) {
    if (repeats[d] < 0 || repeats[d] > kMaxElements)
      return Status::invalidArgument("repeats must be in [0, {}], got {}", kMaxElements, repeats[d]);
    if (output.shape[d] != 0 && repeats[d] > kMaxElements / output.shape[d])
      return Status::invalidArgument("repeats of {} make axis {} longer than {} elements", repeats[d], d, kMaxElements);
    output.shape[d] *= repeats[d];
  }
  return std::vector{output};
}

/// One region over [repeat, extent] per axis, reading with stride 0 along each repeat.
Result<std::vector<RegionList>> lower(const ShapeArgs& args, std::span<const TensorDesc> outputs) {
  const std::vector<int64_t> repeats = args.integers(1);
  const DimVector sourceStrides = contiguousStrides(args.shape(0));
  const DimVector strides = contiguousStrides(outputs[0].shape);
  Region region;
  for (size_t d = 0; d < repeats.size(); ++d) {
    const int64_t extent = args.shape(0)[d];
    region.size.insert(region.size.end(), {repeats[d], extent});
    region.sourceStrides.insert(region.sourceStrides.end(), {0, sourceStrides[d]});
    region.strides.insert(region.strides.end(), {strides[d] * extent, strides[d]});
  }
  return std::vector{RegionList{{region}}};
}

}  // namespace

void define(OpRegistry& registry) {
  registry.add({.type = "Tile",
                .summary = "repeats a tensor side by side along every axis",
                .inputs = {{"x", kMovedDTypes}, {"repeats", kIndexTypes, Port::Kind::Required, true}},
                .outputs = {{"y", kMovedDTypes}},
                .inferShapes = shapeRule,
                .lower = lower,
                .oracle = reference});
}

}  // namespace opkit::ops::tile
