#include "engine/import/onnx/onnx_rules.h"

namespace opkit::ops::variadic {
namespace {

/// Sum and Mean of one input copy it; a Sum of two is an Add, which passes know.
Status accumulate(OnnxNode& node) {
  const bool isPair = node.inputCount() == 2 && node.opType() == "Sum";
  return node.emit(node.inputCount() == 1 ? "Identity" : isPair ? "Add" : node.opType(), node.inputs());
}

/// Max and Min of n inputs are chains of the binary operators.
Status chain(OnnxNode& node) {
  const std::vector<TensorId> inputs = node.inputs();
  if (inputs.empty()) return Status::invalidArgument("{}: needs at least one input, got none", node.opType());
  if (inputs.size() == 1) return node.emit("Identity", inputs);
  TensorId value = inputs[0];
  for (size_t i = 1; i + 1 < inputs.size(); ++i) value = node.emitIntermediate(node.opType(), {value, inputs[i]});
  return node.emit(node.opType(), {value, inputs.back()});
}

}  // namespace

void addOnnx(OnnxRules& rules) {
  for (const char* type : {"Sum", "Mean"}) rules.add(type, {}, {accumulate, passThrough(type).inverse});
  for (const char* type : {"Max", "Min"}) rules.add(type, {}, {chain, passThrough(type).inverse});
}

}  // namespace opkit::ops::variadic
