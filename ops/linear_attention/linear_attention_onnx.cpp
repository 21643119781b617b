#include "engine/import/onnx/onnx_rules.h"
#include "ops/linear_attention/linear_attention_parts.h"

namespace opkit::ops::linear_attention {
namespace {

Status rule(OnnxNode& node) {
  LinearAttentionParamsT params;
  OPKIT_ASSIGN(params.q_heads, requiredInt(node, "q_num_heads"));
  OPKIT_ASSIGN(params.kv_heads, requiredInt(node, "kv_num_heads"));
  OPKIT_ASSIGN(params.rule, choiceAttribute<UpdateRule>(node, "update_rule",
                                                        {{"gated_delta", UpdateRule::GatedDelta},
                                                         {"linear", UpdateRule::Linear},
                                                         {"gated", UpdateRule::Gated},
                                                         {"delta", UpdateRule::Delta}}));
  params.scale = node.floatAttribute("scale", 0);
  return node.emit("LinearAttention", node.inputs(), packParams(params));
}

}  // namespace

void addOnnx(OnnxRules& rules) {
  // chunk_size changes no result.
  rules.add("LinearAttention", {"chunk_size", "kv_num_heads", "q_num_heads", "scale", "update_rule"}, rule, 27);
}

}  // namespace opkit::ops::linear_attention
