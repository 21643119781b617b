#include "engine/import/onnx/onnx_rules.h"
#include "ops/cum_sum/cum_sum_parts.h"

namespace opkit::ops::cum_sum {
namespace {

Status rule(OnnxNode& node) {
  CumSumParamsT params;
  params.exclusive = node.intAttribute("exclusive", 0) != 0;
  params.reverse = node.intAttribute("reverse", 0) != 0;
  return node.emit(node.opType(), node.inputs(), packParams(params));
}

}  // namespace

void addOnnx(OnnxRules& rules) {
  rules.add("CumProd", {"exclusive", "reverse"}, rule, 26);
  rules.add("CumSum", {"exclusive", "reverse"}, rule, 11);
}

}  // namespace opkit::ops::cum_sum
