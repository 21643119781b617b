// MeanVarianceNormalization as parts: the mean, then deviations from it, so that a large mean costs no precision.
#include <cmath>

#include "engine/op/op_registry.h"
#include "ops/mean_variance_norm/mean_variance_norm_parts.h"
#include "ops/parts.h"

namespace opkit::ops::mean_variance_norm {
namespace {

using Value = Decomposition::Value;

constexpr double kFloor = 1e-9;  // added to the deviation, as ONNX defines it

/// The elements that are normalised together; InvalidArgument for an axis out of range or listed twice.
Result<int64_t> elementsTogether(const std::vector<int64_t>& axes, const Shape& shape) {
  if (axes.empty()) return elementCount(shape);
  std::vector<bool> together(shape.size(), false);
  int64_t count = 1;
  for (const int64_t listed : axes) {
    OPKIT_ASSIGN(const int axis, normalizeAxis(listed, shape.size()));
    const auto d = static_cast<size_t>(axis);
    if (together[d]) return Status::invalidArgument("axis {} is listed twice", listed);
    together[d] = true;
    count *= shape[d];
  }
  return count;
}

Result<std::vector<TensorDesc>> shapeRule(const ShapeArgs& args) {
  OPKIT_TRY(elementsTogether(args.params<MeanVarianceNormParams>().axes, args.shape(0)).error());
  return std::vector{args.input(0)};
}

Status decompose(const ShapeArgs& args, std::span<const TensorDesc> outputs, Decomposition& parts) {
  const auto params = args.params<MeanVarianceNormParams>();
  const DType given = args.input(0).dtype, dtype = widened(given);
  if (outputs[0].elements() == 0) {
    parts.setOutput(0, parts.input(0));
    return Status::ok();
  }
  OPKIT_ASSIGN(const int64_t count, elementsTogether(params.axes, args.shape(0)));
  OPKIT_ASSIGN(const Value floor, scalarOf(parts, dtype, kFloor));
  OPKIT_ASSIGN(const Value share, scalarOf(parts, dtype, 1 / std::sqrt(static_cast<double>(count))));
  const Value x = castTo(parts, parts.input(0), given, dtype);
  const Value centred = parts.add("Sub", {x, reduced(parts, "ReduceMean", x, params.axes, true)});
  const Value deviation = parts.add("Mul", {reduced(parts, "ReduceL2", centred, params.axes, true), share});
  const Value normalised = parts.add("Div", {centred, parts.add("Add", {deviation, floor})});
  parts.setOutput(0, castTo(parts, normalised, dtype, given));
  return Status::ok();
}

}  // namespace

void define(OpRegistry& registry) {
  registry.add({.type = "MeanVarianceNormalization",
                .summary = "the elements along some axes together brought to mean 0 and variance 1",
                .params = paramsSchema<MeanVarianceNormParams>(kMeanVarianceNormSchema),
                .inputs = {{"x", kFloats}},
                .outputs = {{"y", kFloats}},
                .numeric = NumericClass::Norm,
                .inferShapes = shapeRule,
                .decompose = decompose,
                .flops = [](const ShapeArgs& args, auto) { return 5.0 * args.input(0).elements(); },
                .oracle = reference});
}

}  // namespace opkit::ops::mean_variance_norm
