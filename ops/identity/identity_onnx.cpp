#include "engine/import/onnx/onnx_rules.h"

namespace opkit::ops::identity {
namespace {

Result<int> keptConstant(OnnxNode& node) {
  if (node.opset() < 10) return node.addConstant("kept", 1.0f);  // the mask had the input's type
  OPKIT_ASSIGN(Tensor kept, Tensor::fromValues({DType::Bool, {}}, std::vector<uint8_t>{1}));
  return node.addConstant("kept", std::move(kept));
}

/// Always inference: `ratio`, `seed` and `is_test` have no effect; training is refused.
Status dropout(OnnxNode& node) {
  if (node.input(2) >= 0) {
    const Tensor* training = node.constantInput(2);
    if (!training) return Status::unsupported("Dropout: training_mode must be a constant false, got a computed tensor");
    if (toInt64(*training).at(0) != 0)
      return Status::unsupported("Dropout: training_mode must be false, OpKit runs inference");
  }
  if (node.outputCount() == 1) return node.emit("Identity", {node.input(0)});
  OPKIT_ASSIGN(const int kept, keptConstant(node));
  return node.emit("Dropout", {node.input(0), kept});
}

}  // namespace

void addOnnx(OnnxRules& rules) {
  rules.add("Identity", {}, passThrough("Identity"));
  rules.add("Dropout", {"ratio", "is_test", "consumed_inputs", "seed"}, dropout);
}

}  // namespace opkit::ops::identity
