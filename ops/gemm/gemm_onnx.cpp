#include "engine/import/onnx/onnx_fields.h"
#include "ops/gemm/gemm_generated.h"

namespace opkit::ops::gemm {

void addOnnx(OnnxRules& rules) {
  using Params = GemmParamsT;
  // Before opset 7 `broadcast` allowed C to be smaller than the result; here it always may be.
  rules.add("Gemm", nodeOf<Params>("Gemm", {field("alpha", &Params::alpha), field("beta", &Params::beta),
                                            field("transA", &Params::trans_a), field("transB", &Params::trans_b),
                                            ignored<Params>({"broadcast", 1, 6})}));
}

}  // namespace opkit::ops::gemm
