#include "engine/op/op_registry.h"
#include "ops/split/split_parts.h"

namespace opkit::ops::split {
namespace {

/// Extents of the parts along the axis: as listed, or ceil(extent / parts) with a smaller last one.
Result<std::vector<int64_t>> partsOf(const ShapeArgs& args, int64_t extent) {
  const auto count = static_cast<int64_t>(args.outputCount);
  if (!args.hasInput(1)) {
    const int64_t part = (extent + count - 1) / count;
    std::vector<int64_t> parts(args.outputCount, part);
    parts.back() = extent - part * (count - 1);
    if (parts.back() < 0) return Status::invalidArgument("cannot split an extent of {} into {} parts", extent, count);
    return parts;
  }
  std::vector<int64_t> parts = args.integers(1);
  if (parts.size() != args.outputCount)
    return Status::invalidArgument("split must list {} parts, one per output, got {}", count, parts.size());
  int64_t sum = 0;
  for (const int64_t part : parts) {
    if (part < 0 || part > extent) return Status::invalidArgument("parts must be in [0, {}], got {}", extent, part);
    sum += part;
  }
  if (sum != extent) return Status::invalidArgument("parts must sum to {}, got {}", extent, sum);
  return parts;
}

Result<std::vector<TensorDesc>> shapeRule(const ShapeArgs& args) {
  const Shape& from = args.shape(0);
  OPKIT_ASSIGN(const int axis, normalizeAxis(args.params<SplitParams>().axis, from.size()));
  OPKIT_ASSIGN(const std::vector<int64_t> parts, partsOf(args, from[static_cast<size_t>(axis)]));
  std::vector<TensorDesc> outputs(parts.size(), args.input(0));
  for (size_t i = 0; i < parts.size(); ++i) outputs[i].shape[static_cast<size_t>(axis)] = parts[i];
  return outputs;
}

Result<std::vector<RegionList>> lower(const ShapeArgs& args, std::span<const TensorDesc> outputs) {
  const auto axis = static_cast<size_t>(*normalizeAxis(args.params<SplitParams>().axis, args.shape(0).size()));
  const DimVector strides = contiguousStrides(args.shape(0));
  std::vector<RegionList> lists;
  int64_t position = 0;
  for (const TensorDesc& output : outputs) {
    lists.push_back({{Region{0, position * strides[axis], 0, output.shape, strides, contiguousStrides(output.shape)}}});
    position += output.shape[axis];
  }
  return lists;
}

}  // namespace

void define(OpRegistry& registry) {
  registry.add({.type = "Split",
                .summary = "cuts a tensor into parts along an axis",
                .params = paramsSchema<SplitParams>(kSplitSchema),
                .inputs = {{"x", kMovedDTypes}, {"split", kIndexTypes, Port::Kind::Optional, true}},
                .outputs = {{"part", kMovedDTypes, Port::Kind::Variadic}},
                .inferShapes = shapeRule,
                .lower = lower,
                .oracle = reference});
}

}  // namespace opkit::ops::split
