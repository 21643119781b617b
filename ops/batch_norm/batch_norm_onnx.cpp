#include "engine/import/onnx/onnx_fields.h"
#include "ops/batch_norm/batch_norm_parts.h"
#include "ops/com_microsoft/rule_parts.h"
#include "ops/reshape/reshape_generated.h"

namespace opkit::ops::batch_norm {
namespace {

/// Before opset 7 an attribute says so, whose default is training; then the number of outputs; from opset 14 on an
/// attribute.
bool trains(const OnnxNode& node) {
  if (node.opset() < 7) return node.intAttribute("is_test", 0) == 0;
  return node.opset() < 14 ? node.outputCount() > 1 : node.intAttribute("training_mode", 0) != 0;
}

/// Statistics per activation: as if every place of an image were a channel.
Status perActivation(OnnxNode& node, BatchNormParamsT params) {
  com_microsoft::RuleParts parts(node);
  const TensorId x = node.input(0);
  std::vector<TensorId> inputs{node.emitIntermediate("Flatten", {x})};
  for (size_t i = 1; i < 5; ++i) inputs.push_back(parts.reshapedTo(node.input(i), {-1}));
  params.spatial = true;
  const TensorId y = node.emitIntermediate("BatchNormalization", std::move(inputs), packParams(params));
  reshape::ReshapeParamsT wanted;
  wanted.allow_zero = true;
  return node.emit("Reshape", {y, node.emitIntermediate("Shape", {x})}, packParams(wanted));
}

const OnnxFields<BatchNormParamsT>& fields() {
  using Params = BatchNormParamsT;
  static const OnnxFields<Params> fields{field("epsilon", &Params::epsilon), field("momentum", &Params::momentum),
                                         field({"spatial", 1, 8}, &Params::spatial)};
  return fields;
}

Status rule(OnnxNode& node) {
  OPKIT_ASSIGN(const BatchNormParamsT params, readFields(node, fields()));
  if (trains(node)) return node.emit("TrainingBatchNormalization", node.inputs(), packParams(params));
  if (!params.spatial) return perActivation(node, params);
  return node.emit("BatchNormalization", node.inputs(), packParams(params));
}

Status write(const BatchNormParamsT& params, const OpNode& node, OnnxForm& form) {
  const bool training = node.type == "TrainingBatchNormalization";
  if (training != (node.outputs > 1) && form.opset < 14)
    return Status::unsupported("before opset 14 its number of outputs says whether BatchNormalization trains");
  if (form.opset < 7) form.attributes["is_test"] = int64_t{!training};
  if (training && form.opset >= 14) form.attributes["training_mode"] = int64_t{1};
  return writeFields(params, fields(), form);
}

}  // namespace

void addOnnx(OnnxRules& rules) {
  std::vector<OnnxAttribute> attributes = attributesOf(fields());
  attributes.insert(attributes.end(), {{"is_test", 1, 6}, {"training_mode", 14}});
  rules.add("BatchNormalization", attributes,
            {rule, inverseOf<BatchNormParamsT>({"BatchNormalization", "TrainingBatchNormalization"}, write)});
  rules.note("BatchNormalization", {"BatchNormalization", "TrainingBatchNormalization"});
}

}  // namespace opkit::ops::batch_norm
