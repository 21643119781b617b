#include "engine/import/onnx/onnx_rules.h"
#include "ops/lrn/lrn_generated.h"

namespace opkit::ops::lrn {
namespace {

Status rule(OnnxNode& node) {
  LrnParamsT params;
  params.size = node.intAttribute("size", 0);
  params.alpha = node.floatAttribute("alpha", 1e-4F);
  params.beta = node.floatAttribute("beta", 0.75F);
  params.bias = node.floatAttribute("bias", 1.0F);
  return node.emit("LRN", node.inputs(), packParams(params));
}

}  // namespace

void addOnnx(OnnxRules& rules) { rules.add("LRN", {"alpha", "beta", "bias", required("size")}, rule); }

}  // namespace opkit::ops::lrn
