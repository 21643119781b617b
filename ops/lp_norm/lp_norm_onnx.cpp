#include "engine/import/onnx/onnx_rules.h"
#include "ops/lp_norm/lp_norm_parts.h"

namespace opkit::ops::lp_norm {
namespace {

Status rule(OnnxNode& node) {
  LpNormParamsT params;
  params.axis = static_cast<int>(node.intAttribute("axis", -1));
  params.p = static_cast<int>(node.intAttribute("p", 2));
  return node.emit("LpNormalization", node.inputs(), packParams(params));
}

}  // namespace

void addOnnx(OnnxRules& rules) { rules.add("LpNormalization", {"axis", "p"}, rule); }

}  // namespace opkit::ops::lp_norm
