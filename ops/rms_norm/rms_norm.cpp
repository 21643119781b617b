// RMSNormalization as a LayerNormalization whose mean counts as 0.
#include "engine/op/op_registry.h"
#include "engine/op/shape_rules.h"
#include "ops/layer_norm/layer_norm_generated.h"
#include "ops/parts.h"
#include "ops/rms_norm/rms_norm_parts.h"

namespace opkit::ops::rms_norm {
namespace {

/// The axes of x that a row has.
Result<Shape> rowShape(const ShapeArgs& args) {
  const Shape& x = args.shape(0);
  OPKIT_ASSIGN(const int axis, normalizeAxis(args.params<RmsNormParams>().axis, x.size()));
  return Shape(x.begin() + axis, x.end());
}

/// The scale may leave out leading axes of a row, and have extents of 1.
Result<std::vector<TensorDesc>> shapeRule(const ShapeArgs& args) {
  OPKIT_ASSIGN(const Shape row, rowShape(args));
  OPKIT_TRY(requireSameType(args, 1, "scale", 0));
  const Shape& scale = args.shape(1);
  const size_t absent = row.size() - std::min(row.size(), scale.size());
  bool fits = scale.size() <= row.size();
  for (size_t d = 0; fits && d < scale.size(); ++d) fits = scale[d] == 1 || scale[d] == row[absent + d];
  if (!fits) return Status::invalidArgument("scale must broadcast to {}, got {}", toString(row), toString(scale));
  return std::vector{args.input(0)};
}

Status decompose(const ShapeArgs& args, std::span<const TensorDesc>, Decomposition& parts) {
  const auto params = args.params<RmsNormParams>();
  OPKIT_ASSIGN(const Shape row, rowShape(args));
  auto scale = parts.input(1);
  if (args.shape(1) != row) {
    OPKIT_ASSIGN(const auto shape, listOf(parts, row));
    scale = parts.add("Expand", {scale, shape});
  }
  layer_norm::LayerNormParamsT norm;
  norm.axis = params.axis;
  norm.epsilon = params.epsilon;
  norm.centred = false;
  parts.setOutput(0, parts.add("LayerNormalization", {parts.input(0), scale}, packParams(norm)));
  return Status::ok();
}

}  // namespace

void define(OpRegistry& registry) {
  registry.add({.type = "RMSNormalization",
                .summary = "rows divided by the root of the mean of their squares, then scaled by position",
                .params = paramsSchema<RmsNormParams>(kRmsNormSchema),
                .inputs = {{"x", kFloats}, {"scale", kFloats}},
                .outputs = {{"y", kFloats}},
                .numeric = NumericClass::Norm,
                .inferShapes = shapeRule,
                .decompose = decompose,
                .flops = [](const ShapeArgs& args, auto) { return 4.0 * args.input(0).elements(); },
                .oracle = reference});
}

}  // namespace opkit::ops::rms_norm
