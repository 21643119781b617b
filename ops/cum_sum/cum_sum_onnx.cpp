#include "engine/import/onnx/onnx_fields.h"
#include "ops/cum_sum/cum_sum_parts.h"

namespace opkit::ops::cum_sum {

void addOnnx(OnnxRules& rules) {
  using Params = CumSumParamsT;
  const OnnxFields<Params> fields{field("exclusive", &Params::exclusive), field("reverse", &Params::reverse)};
  rules.add("CumProd", nodeOf("CumProd", fields), 26);
  rules.add("CumSum", nodeOf("CumSum", fields), 11);
}

}  // namespace opkit::ops::cum_sum
