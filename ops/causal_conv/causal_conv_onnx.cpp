#include "engine/import/onnx/onnx_rules.h"
#include "ops/causal_conv/causal_conv_parts.h"

namespace opkit::ops::causal_conv {
namespace {

Status rule(OnnxNode& node) {
  CausalConvParamsT params;
  OPKIT_ASSIGN(params.swish,
               choiceAttribute<bool>(node, "activation", {{"none", false}, {"silu", true}, {"swish", true}}));
  return node.emit("CausalConvWithState", node.inputs(), packParams(params));
}

}  // namespace

void addOnnx(OnnxRules& rules) { rules.add("CausalConvWithState", {"activation"}, rule, 27); }

}  // namespace opkit::ops::causal_conv
