#include "engine/import/onnx/onnx_rules.h"
#include "ops/reshape/flatten_generated.h"
#include "ops/reshape/reshape_generated.h"
#include "ops/text/over_strings.h"

namespace opkit::ops::reshape {
namespace {

Status reshapeAttribute(OnnxNode& node) {
  return node.emit("Reshape", {node.input(0), node.addConstant("shape", node.intsAttribute("shape"))});
}

Status reshapeInput(OnnxNode& node) {
  ReshapeParamsT params;
  params.allow_zero = node.intAttribute("allowzero", 0) != 0;
  return node.emit("Reshape", node.inputs(), packParams(params));
}

Status flatten(OnnxNode& node) {
  FlattenParamsT params;
  params.axis = static_cast<int>(node.intAttribute("axis", 1));
  return node.emit("Flatten", node.inputs(), packParams(params));
}

/// Squeeze and Unsqueeze before opset 13, when axes were an attribute.
Status axesAttribute(OnnxNode& node) {
  if (!node.hasAttribute("axes")) return node.emit(node.opType(), node.inputs());
  return node.emit(node.opType(), {node.input(0), node.addConstant("axes", node.intsAttribute("axes"))});
}

}  // namespace

void addOnnx(OnnxRules& rules) {
  rules.add("Reshape", {"shape"}, text::overStrings(reshapeAttribute), 1, 4);
  rules.add("Reshape", {{"allowzero", 14}}, text::overStrings(reshapeInput), 5);
  rules.add("Flatten", {"axis"}, text::overStrings(flatten));
  for (const char* type : {"Squeeze", "Unsqueeze"}) {
    const OnnxAttribute axes = std::string_view(type) == "Squeeze" ? "axes" : required("axes");
    rules.add(type, {axes}, text::overStrings(axesAttribute), 1, 12);
    rules.add(type, {}, text::overStrings(passThrough(type)), 13);
  }
}

}  // namespace opkit::ops::reshape
