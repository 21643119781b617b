#include "engine/op/op_registry.h"
#include "ops/concat/concat_parts.h"

namespace opkit::ops::concat {
namespace {

Status checkBeside(const ShapeArgs& args, size_t i, size_t axis) {
  const Shape &first = args.shape(0), &other = args.shape(i);
  bool same = first.size() == other.size();
  for (size_t d = 0; same && d < first.size(); ++d) same = d == axis || first[d] == other[d];
  if (!same)
    return Status::invalidArgument("input {} must equal {} except at axis {}, got {}", i, toString(first), axis,
                                   toString(other));
  if (args.input(i).dtype != args.input(0).dtype)
    return Status::invalidArgument("input {} must be {} like input 0, got {}", i, nameOf(args.input(0).dtype),
                                   nameOf(args.input(i).dtype));
  return Status::ok();
}

Result<std::vector<TensorDesc>> shapeRule(const ShapeArgs& args) {
  TensorDesc output = args.input(0);
  OPKIT_ASSIGN(const int normalized, normalizeAxis(args.params<ConcatParams>().axis, output.shape.size()));
  const auto axis = static_cast<size_t>(normalized);
  for (size_t i = 1; i < args.inputs.size(); ++i) {
    if (!args.hasInput(i)) return Status::invalidArgument("input {} is absent", i);
    OPKIT_TRY(checkBeside(args, i, axis));
    output.shape[axis] += args.shape(i)[axis];
  }
  return std::vector{output};
}

Result<std::vector<RegionList>> lower(const ShapeArgs& args, std::span<const TensorDesc> outputs) {
  const Shape& whole = outputs[0].shape;
  const auto axis = static_cast<size_t>(*normalizeAxis(args.params<ConcatParams>().axis, whole.size()));
  const DimVector strides = contiguousStrides(whole);
  RegionList list;
  int64_t position = 0;
  for (size_t i = 0; i < args.inputs.size(); ++i) {
    const Shape& part = args.shape(i);
    list.regions.push_back({static_cast<int>(i), 0, position * strides[axis], part, contiguousStrides(part), strides});
    position += part[axis];
  }
  return std::vector{list};
}

}  // namespace

void define(OpRegistry& registry) {
  registry.add({.type = "Concat",
                .summary = "joins tensors along an axis",
                .params = paramsSchema<ConcatParams>(kConcatSchema),
                .inputs = {{"x", kMovedDTypes}, {"more", kMovedDTypes, Port::Kind::Variadic}},
                .outputs = {{"y", kMovedDTypes}},
                .inferShapes = shapeRule,
                .lower = lower,
                .oracle = reference});
}

}  // namespace opkit::ops::concat
