#include "engine/import/onnx/onnx_rules.h"
#include "ops/tensor_scatter/tensor_scatter_parts.h"

namespace opkit::ops::tensor_scatter {
namespace {

Status rule(OnnxNode& node) {
  TensorScatterParamsT params;
  params.axis = static_cast<int>(node.intAttribute("axis", -2));
  OPKIT_ASSIGN(params.mode, choiceAttribute<WriteMode>(
                                node, "mode", {{"linear", WriteMode::Linear}, {"circular", WriteMode::Circular}}));
  return node.emit("TensorScatter", node.inputs(), packParams(params));
}

}  // namespace

void addOnnx(OnnxRules& rules) { rules.add("TensorScatter", {"axis", "mode"}, rule, 24); }

}  // namespace opkit::ops::tensor_scatter
