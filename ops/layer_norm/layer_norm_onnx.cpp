#include "engine/import/onnx/onnx_rules.h"
#include "ops/cast/cast_generated.h"
#include "ops/layer_norm/instance_norm_generated.h"
#include "ops/layer_norm/layer_norm_generated.h"

namespace opkit::ops::layer_norm {
namespace {

Status layerRule(OnnxNode& node) {
  OPKIT_TRY(requireOnly(node, "stash_type", 1));  // statistics in f32
  LayerNormParamsT params;
  params.axis = static_cast<int>(node.intAttribute("axis", -1));
  params.epsilon = node.floatAttribute("epsilon", 1e-5F);
  const Result<DType> type = node.declaredType(0);
  if (node.outputCount() == 1 || (type && *type != DType::Float64))
    return node.emit("LayerNormalization", node.inputs(), packParams(params));
  // Statistics of f64 are f64 in the operator, and f32 by stash_type.
  const std::vector<int> made =
      node.emitIntermediates("LayerNormalization", node.inputs(), node.outputCount(), packParams(params));
  OPKIT_TRY(node.emitOutput(0, "Identity", {made[0]}));
  cast::CastParamsT toF32;
  toF32.to = cast::ElementType::f32;
  for (size_t i = 1; i < made.size(); ++i) OPKIT_TRY(node.emitOutput(i, "Cast", {made[i]}, packParams(toF32)));
  return Status::ok();
}

Status instanceRule(OnnxNode& node) {
  InstanceNormParamsT params;
  params.epsilon = node.floatAttribute("epsilon", 1e-5F);
  return node.emit("InstanceNormalization", node.inputs(), packParams(params));
}

}  // namespace

void addOnnx(OnnxRules& rules) {
  rules.add("LayerNormalization", {"axis", "epsilon", "stash_type"}, layerRule);
  rules.add("InstanceNormalization", {"epsilon"}, instanceRule);
  rules.note("LayerNormalization", {}, "statistics are f32: stash_type is 1");
}

}  // namespace opkit::ops::layer_norm
