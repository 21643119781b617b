// RMSNormalization as a LayerNormalization whose mean counts as 0.
#include "engine/op/op_registry.h"
#include "engine/op/shape_rules.h"
#include "ops/layer_norm/layer_norm_generated.h"
#include "ops/parts.h"
#include "ops/rms_norm/rms_norm_parts.h"

namespace opkit::ops::rms_norm {
namespace {

/// The result has the type of the scale.
Result<std::vector<TensorDesc>> shapeRule(const ShapeArgs& args) {
  const Shape& x = args.shape(0);
  OPKIT_TRY(normalizeAxis(args.params<RmsNormParams>().axis, x.size()).error());
  OPKIT_TRY(requireBroadcast(args.shape(1), x, "scale"));
  return std::vector{TensorDesc{args.input(1).dtype, x}};
}

Status decompose(const ShapeArgs& args, std::span<const TensorDesc>, Decomposition& parts) {
  const auto params = args.params<RmsNormParams>();
  layer_norm::LayerNormParamsT norm;
  norm.axis = params.axis;
  norm.epsilon = params.epsilon;
  norm.centred = false;
  const DType given = args.input(0).dtype, dtype = args.input(1).dtype;
  const DType wider = sizeOf(given) > sizeOf(dtype) ? given : dtype;
  const auto x = castTo(parts, parts.input(0), given, wider), scale = castTo(parts, parts.input(1), dtype, wider);
  const auto y = parts.add("LayerNormalization", {x, scale}, packParams(norm));
  parts.setOutput(0, castTo(parts, y, wider, dtype));
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
