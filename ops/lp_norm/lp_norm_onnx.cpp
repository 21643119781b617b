#include "engine/import/onnx/onnx_fields.h"
#include "ops/lp_norm/lp_norm_parts.h"

namespace opkit::ops::lp_norm {

void addOnnx(OnnxRules& rules) {
  using Params = LpNormParamsT;
  rules.add("LpNormalization",
            nodeOf<Params>("LpNormalization", {field("axis", &Params::axis), field("p", &Params::p)}));
}

}  // namespace opkit::ops::lp_norm
