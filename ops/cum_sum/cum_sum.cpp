#include "ops/cum_sum/cum_sum.h"

#include "engine/op/op_registry.h"

namespace opkit::ops::cum_sum {
namespace {

/// The values of the input, or the parameter.
std::vector<int64_t> axesOf(const ShapeArgs& args) {
  return args.hasInput(1) ? args.integers(1) : std::vector{args.params<CumSumParams>().axis};
}

Result<std::vector<TensorDesc>> shapeRule(const ShapeArgs& args) {
  const std::vector<int64_t> axis = axesOf(args);
  if (axis.size() != 1) return Status::invalidArgument("axis must hold one element, got {}", toString(args.shape(1)));
  OPKIT_TRY(normalizeAxis(axis[0], args.shape(0).size()).error());
  return std::vector{args.input(0)};
}

Result<LoopRegion> loopOf(const ShapeArgs& args, Combine combine) {
  const auto params = args.params<CumSumParams>();
  const Shape& shape = args.shape(0);
  OPKIT_ASSIGN(const int normalized, normalizeAxis(axesOf(args)[0], shape.size()));
  const auto axis = static_cast<size_t>(normalized);
  const int64_t extent = shape[axis], inner = elementCount(shape, axis + 1, shape.size());
  LoopView rows{.steps = {extent * inner, 1}, .strides = {inner}};
  if (params.reverse) {
    rows.offset = std::max<int64_t>(extent - 1, 0) * inner;
    rows.strides = {-inner};
  }
  LoopRegion loop;
  loop.command = LoopRegion::Command::RunningSum;
  loop.iterations = {elementCount(shape, 0, axis), inner};
  loop.size = {extent};
  loop.operands = {rows};
  loop.target = rows;
  loop.exclusive = params.exclusive;
  loop.combine = combine;
  return loop;
}

Result<LoopRegion> loopOfSums(const ShapeArgs& args, std::span<const TensorDesc>) { return loopOf(args, Combine::Add); }
Result<LoopRegion> loopOfProducts(const ShapeArgs& args, std::span<const TensorDesc>) {
  return loopOf(args, Combine::Multiply);
}

}  // namespace

void define(OpRegistry& registry) {
  registry.add({.type = "CumSum",
                .summary = "running sums along an axis",
                .params = paramsSchema<CumSumParams>(kCumSumSchema),
                .inputs = {{"x", kNumbers}, {"axis", kIndexTypes, Port::Kind::Optional, true}},
                .outputs = {{"y", kNumbers}},
                .numeric = NumericClass::Sum,
                .inferShapes = shapeRule,
                .loop = loopOfSums,
                .oracle = reference});
  // The roundings of a product are relative to it, at every magnitude: class Norm, which has no exact lane.
  registry.add({.type = "CumProd",
                .summary = "running products along an axis",
                .params = paramsSchema<CumSumParams>(kCumSumSchema),
                .inputs = {{"x", kNumbers}, {"axis", kIndexTypes, Port::Kind::Optional, true}},
                .outputs = {{"y", kNumbers}},
                .numeric = NumericClass::Norm,
                .inferShapes = shapeRule,
                .loop = loopOfProducts,
                .oracle = productReference});
}

}  // namespace opkit::ops::cum_sum
