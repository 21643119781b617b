#include "engine/import/onnx/onnx_rules.h"
#include "ops/hardmax/hardmax_parts.h"

namespace opkit::ops::hardmax {
namespace {

OnnxRule rule(bool flatten) {
  return [=](OnnxNode& node) {
    HardmaxParamsT params;
    params.axis = static_cast<int>(node.intAttribute("axis", flatten ? 1 : -1));
    params.flatten = flatten;
    return node.emit("Hardmax", node.inputs(), packParams(params));
  };
}

}  // namespace

void addOnnx(OnnxRules& rules) {
  rules.add("Hardmax", {"axis"}, rule(true), 1, 12);
  rules.add("Hardmax", {"axis"}, rule(false), 13);
}

}  // namespace opkit::ops::hardmax
