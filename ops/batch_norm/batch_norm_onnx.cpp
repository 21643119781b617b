#include "engine/import/onnx/onnx_rules.h"
#include "ops/batch_norm/batch_norm_parts.h"

namespace opkit::ops::batch_norm {
namespace {

/// Before opset 7 an attribute says so, whose default is training; then the number of outputs; from opset 14 on an
/// attribute.
bool trains(const OnnxNode& node) {
  if (node.opset() < 7) return node.intAttribute("is_test", 0) == 0;
  return node.opset() < 14 ? node.outputCount() > 1 : node.intAttribute("training_mode", 0) != 0;
}

Status rule(OnnxNode& node) {
  BatchNormParamsT params;
  params.epsilon = node.floatAttribute("epsilon", 1e-5F);
  params.momentum = node.floatAttribute("momentum", 0.9F);
  params.spatial = node.intAttribute("spatial", 1) != 0;
  if (trains(node)) return node.emit("TrainingBatchNormalization", node.inputs(), packParams(params));
  if (!params.spatial) return Status::unsupported("BatchNormalization: spatial must be 1 in inference, got 0");
  return node.emit("BatchNormalization", node.inputs(), packParams(params));
}

}  // namespace

void addOnnx(OnnxRules& rules) {
  // consumed_inputs was a hint about memory.
  rules.add("BatchNormalization", {"consumed_inputs", "epsilon", "is_test", "momentum", "spatial"}, rule, 1, 6);
  rules.add("BatchNormalization", {"epsilon", "momentum", "spatial"}, rule, 7, 8);
  rules.add("BatchNormalization", {"epsilon", "momentum", "training_mode"}, rule, 9);
  rules.note("BatchNormalization", {"BatchNormalization", "TrainingBatchNormalization"}, "spatial is 1 in inference");
}

}  // namespace opkit::ops::batch_norm
