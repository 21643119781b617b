#include "engine/import/onnx/onnx_rules.h"
#include "ops/one_hot/one_hot_parts.h"

namespace opkit::ops::one_hot {
namespace {

Status rule(OnnxNode& node) {
  OneHotParamsT params;
  params.axis = static_cast<int>(node.intAttribute("axis", -1));
  return node.emit("OneHot", node.inputs(), packParams(params));
}

}  // namespace

void addOnnx(OnnxRules& rules) { rules.add("OneHot", {"axis"}, rule, 9); }

}  // namespace opkit::ops::one_hot
