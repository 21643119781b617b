#include "engine/import/onnx/onnx_rules.h"
#include "ops/pad/pad_generated.h"

namespace opkit::ops::pad {
namespace {

Result<ParamBytes> paramsOf(const OnnxNode& node) {
  PadParamsT params;
  OPKIT_ASSIGN(
      params.mode,
      choiceAttribute<Mode>(
          node, "mode",
          {{"constant", Mode::Constant}, {"reflect", Mode::Reflect}, {"edge", Mode::Edge}, {"wrap", Mode::Wrap}}));
  return packParams(params);
}

/// Opset 1 to 10: pads (called paddings in opset 1) and value are attributes.
OnnxRule attributes(const std::string& padsName) {
  return [padsName](OnnxNode& node) -> Status {
    OPKIT_ASSIGN(ParamBytes params, paramsOf(node));
    std::vector<int> inputs = {node.input(0), node.addConstant("pads", node.intsAttribute(padsName))};
    const float value = node.floatAttribute("value", 0.0f);
    if (value != 0.0f) inputs.push_back(node.addConstant("value", value));
    return node.emit("Pad", std::move(inputs), std::move(params));
  };
}

Status inputs(OnnxNode& node) {
  OPKIT_ASSIGN(ParamBytes params, paramsOf(node));
  return node.emit("Pad", node.inputs(), std::move(params));
}

}  // namespace

void addOnnx(OnnxRules& rules) {
  rules.add("Pad", {"mode", required("paddings"), "value"}, attributes("paddings"), 1, 1);
  rules.add("Pad", {"mode", required("pads"), "value"}, attributes("pads"), 2, 10);
  rules.add("Pad", {"mode"}, inputs, 11);
}

}  // namespace opkit::ops::pad
