#include "engine/import/onnx/onnx_fields.h"
#include "ops/reshape/flatten_generated.h"
#include "ops/reshape/reshape_generated.h"
#include "ops/text/over_strings.h"

namespace opkit::ops::reshape {
namespace {

Status reshapeAttribute(OnnxNode& node) {
  return node.emit("Reshape", {node.input(0), node.addConstant("shape", node.intsAttribute("shape"))});
}

/// Squeeze and Unsqueeze before opset 13, when axes were an attribute.
Status axesAttribute(OnnxNode& node) {
  if (!node.hasAttribute("axes")) return node.emit(node.opType(), node.inputs());
  return node.emit(node.opType(), {node.input(0), node.addConstant("axes", node.intsAttribute("axes"))});
}

}  // namespace

void addOnnx(OnnxRules& rules) {
  rules.add("Reshape", {"shape"}, text::overStrings(reshapeAttribute), 1, 4);
  const OnnxField<ReshapeParamsT> allowZero = field({"allowzero", 14}, &ReshapeParamsT::allow_zero);
  rules.add("Reshape", text::overStrings(nodeOf<ReshapeParamsT>("Reshape", {allowZero})), 5);
  rules.add("Flatten", text::overStrings(nodeOf<FlattenParamsT>("Flatten", {field("axis", &FlattenParamsT::axis)})));
  for (const char* type : {"Squeeze", "Unsqueeze"}) {
    const OnnxAttribute axes = std::string_view(type) == "Squeeze" ? "axes" : required("axes");
    rules.add(type, {axes}, text::overStrings(axesAttribute), 1, 12);
    rules.add(type, {}, text::overStrings(passThrough(type)), 13);
  }
}

}  // namespace opkit::ops::reshape
