#include "engine/import/onnx/onnx_fields.h"
#include "ops/causal_conv/causal_conv_parts.h"

namespace opkit::ops::causal_conv {

void addOnnx(OnnxRules& rules) {
  using Params = CausalConvParamsT;
  rules.add("CausalConvWithState",
            nodeOf<Params>("CausalConvWithState",
                           {choice("activation", &Params::swish, {{"none", false}, {"silu", true}, {"swish", true}})}),
            27);
}

}  // namespace opkit::ops::causal_conv
