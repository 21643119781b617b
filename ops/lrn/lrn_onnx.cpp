#include "engine/import/onnx/onnx_fields.h"
#include "ops/lrn/lrn_generated.h"

namespace opkit::ops::lrn {

void addOnnx(OnnxRules& rules) {
  using Params = LrnParamsT;
  rules.add("LRN", nodeOf<Params>("LRN", {field("alpha", &Params::alpha), field("beta", &Params::beta),
                                          field("bias", &Params::bias), field(required("size"), &Params::size)}));
}

}  // namespace opkit::ops::lrn
