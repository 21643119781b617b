#include "ops/com_microsoft/com_microsoft.h"
#include "ops/quantized_binary/quantized_binary_parts.h"

namespace opkit::ops::quantized_binary {
namespace {

/// Without a zero point the type is not known yet: nodes in floats then.
OnnxRule pair(const char* type) {
  const auto read = [type](OnnxNode& node) {
    std::vector<TensorId> inputs;
    for (size_t i = 0; i < 8; ++i) inputs.push_back(node.input(i));
    if (inputs[2] && inputs[5] && inputs[7]) return node.emit(fmt::format("QLinear{}", type), inputs);
    const TensorId a = com_microsoft::dequantized(node, 0), b = com_microsoft::dequantized(node, 3);
    return com_microsoft::emitQuantized(node, node.emitIntermediate(type, {a, b}), 6, inputs[0]);
  };
  return {read, {{fmt::format("QLinear{}", type)}, [](const OpNode&, OnnxForm&) { return Status::ok(); }}};
}

}  // namespace

void addOnnx(OnnxRules& rules) {
  rules.add("com.microsoft::QLinearAdd", {}, pair("Add"));
  rules.add("com.microsoft::QLinearMul", {}, pair("Mul"));
  rules.note("com.microsoft::QLinearAdd", {"QLinearAdd", "DequantizeLinear", "Add", "QuantizeLinear"});
  rules.note("com.microsoft::QLinearMul", {"QLinearMul", "DequantizeLinear", "Mul", "QuantizeLinear"});
}

}  // namespace opkit::ops::quantized_binary
