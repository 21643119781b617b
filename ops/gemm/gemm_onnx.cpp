#include "engine/import/onnx/onnx_rules.h"
#include "ops/gemm/gemm_generated.h"

namespace opkit::ops::gemm {
namespace {

Status rule(OnnxNode& node) {
  GemmParamsT params;
  params.alpha = node.floatAttribute("alpha", 1.0F);
  params.beta = node.floatAttribute("beta", 1.0F);
  params.trans_a = node.intAttribute("transA", 0) != 0;
  params.trans_b = node.intAttribute("transB", 0) != 0;
  return node.emit("Gemm", node.inputs(), packParams(params));
}

}  // namespace

void addOnnx(OnnxRules& rules) {
  // Before opset 7 `broadcast` allowed C to be smaller than the result; here it always may be.
  rules.add("Gemm", {"alpha", "beta", "broadcast", "transA", "transB"}, rule, 1, 6);
  rules.add("Gemm", {"alpha", "beta", "transA", "transB"}, rule, 7);
}

}  // namespace opkit::ops::gemm
