#include "engine/import/onnx/onnx_rules.h"
#include "ops/concat/concat_generated.h"
#include "ops/text/over_strings.h"

namespace opkit::ops::concat {
namespace {

Status rule(OnnxNode& node) {
  ConcatParamsT params;
  params.axis = static_cast<int>(node.intAttribute("axis", 1));  // required from opset 4, defaults to 1 before
  return node.emit("Concat", node.inputs(), packParams(params));
}

}  // namespace

void addOnnx(OnnxRules& rules) {
  rules.add("Concat", {{"axis", 1, 3}, required("axis", 4)}, text::overStrings(rule, {.last = SIZE_MAX}));
}

}  // namespace opkit::ops::concat
