#include "engine/import/onnx/onnx_rules.h"
#include "ops/trilu/trilu_parts.h"

namespace opkit::ops::trilu {
namespace {

Status rule(OnnxNode& node) {
  TriluParamsT params;
  params.upper = node.intAttribute("upper", 1) != 0;
  return node.emit("Trilu", node.inputs(), packParams(params));
}

}  // namespace

void addOnnx(OnnxRules& rules) { rules.add("Trilu", {"upper"}, rule, 14); }

}  // namespace opkit::ops::trilu
