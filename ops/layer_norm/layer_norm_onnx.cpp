#include "engine/import/onnx/stash_field.h"
#include "ops/cast/cast_generated.h"
#include "ops/layer_norm/instance_norm_generated.h"
#include "ops/layer_norm/layer_norm_generated.h"

namespace opkit::ops::layer_norm {
namespace {

using Layer = LayerNormParamsT;

const OnnxFields<Layer>& layerFields() {
  static const OnnxFields<Layer> fields = {field("axis", &Layer::axis), field("epsilon", &Layer::epsilon),
                                           stashType<Layer>()};
  return fields;
}

Status layerRule(OnnxNode& node) {
  OPKIT_ASSIGN(const Layer params, readFields(node, layerFields()));
  const Result<DType> type = node.declaredType(0);
  const bool isWide = node.intAttribute("stash_type", kStashF32) == kStashF64;
  if (node.outputCount() == 1 || isWide || (type && *type != DType::Float64))
    return node.emit("LayerNormalization", node.inputs(), packParams(params));
  // Statistics of f64 are f64 in the operator, and f32 by stash_type.
  const std::vector<TensorId> made =
      node.emitIntermediates("LayerNormalization", node.inputs(), node.outputCount(), packParams(params));
  OPKIT_TRY(node.emitOutput(0, "Identity", {made[0]}));
  cast::CastParamsT toF32;
  toF32.to = cast::ElementType::f32;
  for (size_t i = 1; i < made.size(); ++i) OPKIT_TRY(node.emitOutput(i, "Cast", {made[i]}, packParams(toF32)));
  return Status::ok();
}

}  // namespace

void addOnnx(OnnxRules& rules) {
  using Instance = InstanceNormParamsT;
  rules.add("LayerNormalization", attributesOf(layerFields()),
            {layerRule, inverseWithStash("LayerNormalization", layerFields())});
  rules.add("InstanceNormalization", nodeOf<Instance>("InstanceNormalization", {field("epsilon", &Instance::epsilon)}));
  rules.note("LayerNormalization", {}, "statistics are f32, or f64 of f64: stash_type is 1 or 11");
}

}  // namespace opkit::ops::layer_norm
