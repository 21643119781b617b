#include "engine/import/onnx/onnx_fields.h"
#include "ops/linear_attention/linear_attention_parts.h"

namespace opkit::ops::linear_attention {

void addOnnx(OnnxRules& rules) {
  using Params = LinearAttentionParamsT;
  const OnnxField<Params> rule = choice("update_rule", &Params::rule,
                                        {{"gated_delta", UpdateRule::GatedDelta},
                                         {"linear", UpdateRule::Linear},
                                         {"gated", UpdateRule::Gated},
                                         {"delta", UpdateRule::Delta}});
  rules.add("LinearAttention",
            nodeOf<Params>("LinearAttention", {field(required("q_num_heads"), &Params::q_heads),
                                               field(required("kv_num_heads"), &Params::kv_heads), rule,
                                               field("scale", &Params::scale), ignored<Params>("chunk_size")}),
            27);
}

}  // namespace opkit::ops::linear_attention
