#include "engine/import/onnx/onnx_rules.h"
#include "ops/rms_norm/rms_norm_parts.h"

namespace opkit::ops::rms_norm {
namespace {

Status rule(OnnxNode& node) {
  OPKIT_TRY(requireOnly(node, "stash_type", 1));  // statistics in f32
  RmsNormParamsT params;
  params.axis = static_cast<int>(node.intAttribute("axis", -1));
  params.epsilon = node.floatAttribute("epsilon", 1e-5F);
  return node.emit("RMSNormalization", node.inputs(), packParams(params));
}

}  // namespace

void addOnnx(OnnxRules& rules) {
  rules.add("RMSNormalization", {"axis", "epsilon", "stash_type"}, rule, 23);
  rules.note("RMSNormalization", {}, "statistics are f32: stash_type is 1");
}

}  // namespace opkit::ops::rms_norm
