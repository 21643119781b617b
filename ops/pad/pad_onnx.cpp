#include "engine/import/onnx/onnx_fields.h"
#include "ops/pad/pad_generated.h"

namespace opkit::ops::pad {
namespace {

OnnxField<PadParamsT> mode() {
  return choice("mode", &PadParamsT::mode,
                {{"constant", Mode::Constant}, {"reflect", Mode::Reflect}, {"edge", Mode::Edge}, {"wrap", Mode::Wrap}});
}

/// Opset 1 to 10: pads (called paddings in opset 1) and value are attributes.
OnnxRule attributes(const std::string& padsName) {
  return [padsName](OnnxNode& node) -> Status {
    OPKIT_ASSIGN(const PadParamsT params, readFields<PadParamsT>(node, {mode()}));
    std::vector<TensorId> inputs = {node.input(0), node.addConstant("pads", node.intsAttribute(padsName))};
    const float value = node.floatAttribute("value", 0.0f);
    if (value != 0.0f) inputs.push_back(node.addConstant("value", value));
    return node.emit("Pad", std::move(inputs), packParams(params));
  };
}

}  // namespace

void addOnnx(OnnxRules& rules) {
  rules.add("Pad", {"mode", required("paddings"), "value"}, attributes("paddings"), 1, 1);
  rules.add("Pad", {"mode", required("pads"), "value"}, attributes("pads"), 2, 10);
  rules.add("Pad", nodeOf<PadParamsT>("Pad", {mode()}), 11);
}

}  // namespace opkit::ops::pad
