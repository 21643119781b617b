#include "ops/cum_sum/cum_sum_parts.h"

#include "engine/op/op_registry.h"

namespace opkit::ops::cum_sum {
namespace {

Result<std::vector<TensorDesc>> shapeRule(const ShapeArgs& args) {
  const std::vector<int64_t> axis = args.integers(1);
  if (axis.size() != 1) return Status::invalidArgument("axis must hold one element, got {}", toString(args.shape(1)));
  OPKIT_TRY(normalizeAxis(axis[0], args.shape(0).size()).error());
  return std::vector{args.input(0)};
}

Result<LoopRegion> loop(const ShapeArgs& args, std::span<const TensorDesc>) {
  const auto params = args.params<CumSumParams>();
  const Shape& shape = args.shape(0);
  OPKIT_ASSIGN(const int normalized, normalizeAxis(args.integers(1)[0], shape.size()));
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
  return loop;
}

}  // namespace

void define(OpRegistry& registry) {
  registry.add({.type = "CumSum",
                .summary = "running sums along an axis",
                .params = paramsSchema<CumSumParams>(kCumSumSchema),
                .inputs = {{"x", kNumbers}, {"axis", kIndexTypes, Port::Kind::Required, true}},
                .outputs = {{"y", kNumbers}},
                .numeric = NumericClass::Sum,
                .inferShapes = shapeRule,
                .loop = loop,
                .oracle = reference});
}

}  // namespace opkit::ops::cum_sum
