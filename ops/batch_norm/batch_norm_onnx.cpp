#include "engine/import/onnx/onnx_rules.h"
#include "ops/batch_norm/batch_norm_parts.h"

namespace opkit::ops::batch_norm {
namespace {

Status rule(OnnxNode& node) {
  if (node.intAttribute("training_mode", 0) != 0)
    return Status::unsupported("BatchNormalization: training_mode must be 0 (inference), got 1");
  if (node.intAttribute("spatial", 1) == 0) return Status::unsupported("BatchNormalization: spatial must be 1, got 0");
  // Before opset 7 the default was training; exporters of that time set is_test for inference.
  if (node.opset() < 7 && node.intAttribute("is_test", 0) == 0)
    return Status::unsupported("BatchNormalization: is_test must be 1 (inference), got 0");
  BatchNormParamsT params;
  params.epsilon = node.floatAttribute("epsilon", 1e-5F);
  return node.emit("BatchNormalization", node.inputs(), packParams(params));
}

}  // namespace

void addOnnx(OnnxRules& rules) {
  // momentum only matters in training; consumed_inputs was a hint about memory.
  rules.add("BatchNormalization", {"consumed_inputs", "epsilon", "is_test", "momentum", "spatial"}, rule, 1, 6);
  rules.add("BatchNormalization", {"epsilon", "momentum", "spatial"}, rule, 7, 8);
  rules.add("BatchNormalization", {"epsilon", "momentum", "training_mode"}, rule, 9);
}

}  // namespace opkit::ops::batch_norm
