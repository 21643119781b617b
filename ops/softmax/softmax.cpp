#include "ops/softmax/softmax.h"

#include "engine/op/op_registry.h"

namespace opkit::ops::softmax {
namespace {

Result<std::vector<TensorDesc>> shapeRule(const ShapeArgs& args) {
  OPKIT_TRY(normalizeAxis(args.params<SoftmaxParams>().axis, args.shape(0).size()).error());
  return std::vector{args.input(0)};
}

}  // namespace

Rows rowsOf(const SoftmaxParamsT& params, const Shape& shape) {
  const auto axis = static_cast<size_t>(*normalizeAxis(params.axis, shape.size()));
  return rowsBetween(shape, axis, params.flatten ? shape.size() : axis + 1);
}

void define(OpRegistry& registry) {
  registry.add({.type = "Softmax",
                .summary = "exp(x) normalised to sum 1 along an axis",
                .params = paramsSchema<SoftmaxParams>(kSoftmaxSchema),
                .inputs = {{"x", kFloats}},
                .outputs = {{"y"}},
                .numeric = NumericClass::Softmax,
                .inferShapes = shapeRule,
                .flops = [](const ShapeArgs& args, auto) { return 5.0 * args.input(0).elements(); },
                .oracle = reference});
}

}  // namespace opkit::ops::softmax
