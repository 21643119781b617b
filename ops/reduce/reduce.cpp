#include "ops/reduce/reduce.h"

#include "engine/op/op_registry.h"
#include "ops/reduce/reduce_schema.h"

namespace opkit::ops::reduce {
namespace {

Result<std::vector<TensorDesc>> shapeRule(const ShapeArgs& args) {
  const auto params = args.params<ReduceParams>();
  std::vector<int64_t> axes;
  if (args.hasInput(1)) axes = args.integers(1);
  const Shape& from = args.shape(0);
  OPKIT_ASSIGN(const auto reduced, reducedAxes(params, args.hasInput(1) ? &axes : nullptr, from.size()));
  TensorDesc output{args.input(0).dtype, {}};
  for (size_t d = 0; d < from.size(); ++d) {
    if (!reduced[d])
      output.shape.push_back(from[d]);
    else if (params.keep_dims)
      output.shape.push_back(1);
  }
  return std::vector{output};
}

double flops(const ShapeArgs& args, std::span<const TensorDesc>) {
  return static_cast<double>(args.input(0).elements());
}

}  // namespace

Result<std::vector<bool>> reducedAxes(const ReduceParamsT& params, const std::vector<int64_t>* axes, size_t rank) {
  if (!axes) axes = &params.axes;
  if (axes->empty()) return std::vector<bool>(rank, !params.noop_with_empty_axes);
  std::vector<bool> reduced(rank, false);
  for (const int64_t listed : *axes) {
    OPKIT_ASSIGN(const int axis, normalizeAxis(listed, rank));
    if (reduced[static_cast<size_t>(axis)]) return Status::invalidArgument("axis {} is listed twice", listed);
    reduced[static_cast<size_t>(axis)] = true;
  }
  return reduced;
}

View viewOf(const Shape& shape, const std::vector<bool>& reduced) {
  const DimVector strides = contiguousStrides(shape);
  Shape sizes[2];
  std::vector<int64_t> steps[2];
  for (size_t d = 0; d < shape.size(); ++d) {
    sizes[reduced[d]].push_back(shape[d]);
    steps[reduced[d]].push_back(strides[d]);
  }
  return {mergeLoops(sizes[0], {steps[0]}), mergeLoops(sizes[1], {steps[1]})};
}

namespace {

/// Bool as bytes of 0 and 1, where the fold is a choice among them.
std::vector<std::pair<DType, DType>> computesAs(Kind kind) {
  std::vector<std::pair<DType, DType>> pairs = OpDef().computesAs;
  if (kind == Kind::Min || kind == Kind::Max) pairs.emplace_back(DType::Bool, DType::UInt8);
  return pairs;
}

}  // namespace

void define(OpRegistry& registry) {
#define REDUCE(id, Name, numericClass)                                                          \
  registry.add({.type = "Reduce" #Name,                                                         \
                .summary = "folds axes: " #Name,                                                \
                .params = paramsSchema<ReduceParams>(kReduceSchema),                            \
                .inputs = {{"x", kNumbers}, {"axes", kIndexTypes, Port::Kind::Optional, true}}, \
                .outputs = {{"y", kNumbers}},                                                   \
                .numeric = NumericClass::numericClass,                                          \
                .inferShapes = shapeRule,                                                       \
                .flops = flops,                                                                 \
                .oracle = [](const OracleArgs& args) { return reference(Kind::Name, args); },   \
                .computesAs = computesAs(Kind::Name)});
#include "ops/reduce/reduce_table.h"
}

}  // namespace opkit::ops::reduce
