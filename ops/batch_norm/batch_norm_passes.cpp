// fold-batch-norm: a BatchNormalization after a Conv is a scale and a shift of its weights and bias.
#include <cmath>

#include "engine/graph/model_edit.h"
#include "engine/graph/pass.h"
#include "engine/op/clamp.h"
#include "engine/op/op_registry.h"
#include "ops/batch_norm/batch_norm_parts.h"
#include "ops/conv/conv_generated.h"

namespace opkit::ops::batch_norm {
namespace {

/// The constant f32 values of an input, or null.
const Tensor* floats(const ModelEdit& edit, const ModelNode& node, size_t input) {
  const Tensor* value = input < node.inputs.size() ? edit.constant(node.inputs[input]) : nullptr;
  return value && value->desc.dtype == DType::Float32 ? value : nullptr;
}

struct Affine {
  std::vector<double> scale, shift;  // per channel
};

std::optional<Affine> affineOf(const ModelEdit& edit, const ModelNode& norm) {
  const Tensor* values[4];
  for (size_t i = 0; i < 4; ++i) {
    values[i] = floats(edit, norm, i + 1);
    if (!values[i] || values[i]->desc.elements() != values[0]->desc.elements()) return std::nullopt;
  }
  const double epsilon = unpackParams<BatchNormParams>(norm.params).epsilon;
  Affine affine;
  for (size_t c = 0; c < static_cast<size_t>(values[0]->desc.elements()); ++c) {
    const double scale = values[0]->data<float>()[c] / std::sqrt(values[3]->data<float>()[c] + epsilon);
    affine.scale.push_back(scale);
    affine.shift.push_back(values[1]->data<float>()[c] - values[2]->data<float>()[c] * scale);
  }
  return affine;
}

/// Conv followed by scale and shift, as weights and bias; rounded once from double.
Status foldInto(ModelEdit& edit, ModelNode& conv, const Affine& affine) {
  const Tensor& weights = *floats(edit, conv, 1);
  const Tensor* bias = floats(edit, conv, 2);
  const size_t channels = affine.scale.size();
  const size_t perChannel = channels == 0 ? 0 : static_cast<size_t>(weights.desc.elements()) / channels;
  OPKIT_ASSIGN(const Tensor newWeights, Tensor::onHost(weights.desc));
  OPKIT_ASSIGN(const Tensor newBias, Tensor::onHost({DType::Float32, {static_cast<int64_t>(channels)}}));
  for (size_t c = 0; c < channels; ++c) {
    for (size_t i = c * perChannel; i < (c + 1) * perChannel; ++i)
      newWeights.data<float>()[i] = static_cast<float>(weights.data<float>()[i] * affine.scale[c]);
    const double old = bias ? bias->data<float>()[c] : 0.0;
    newBias.data<float>()[c] = static_cast<float>(old * affine.scale[c] + affine.shift[c]);
  }
  edit.replaceInput(conv, 1, edit.addConstant(conv.name + "/folded weights", newWeights));
  edit.replaceInput(conv, 2, edit.addConstant(conv.name + "/folded bias", newBias));
  return Status::ok();
}

bool canFold(const ModelEdit& edit, const ModelNode& conv, const Affine& affine) {
  const Tensor* weights = floats(edit, conv, 1);
  const bool hasBias = conv.inputs.size() > 2 && conv.inputs[2] >= 0;
  if (!weights || weights->desc.shape.empty() || (hasBias && !floats(edit, conv, 2))) return false;
  if (clampOf(unpackParams<conv::ConvParams>(conv.params)).isActive()) return false;  // an activation is in between
  const auto channels = static_cast<int64_t>(affine.scale.size());
  return weights->desc.shape[0] == channels && (!hasBias || floats(edit, conv, 2)->desc.elements() == channels);
}

Result<size_t> foldBatchNorm(Model& model, const OpRegistry&) {
  ModelEdit edit(model);
  for (ModelNode& norm : model.nodes) {
    if (norm.type != "BatchNormalization" || norm.outputs[0] < 0) continue;
    ModelNode* conv = edit.producer(norm.inputs[0], "Conv");
    if (!conv || !edit.isOnlyReader(norm.inputs[0])) continue;
    const std::optional<Affine> affine = affineOf(edit, norm);
    if (!affine || !canFold(edit, *conv, *affine)) continue;
    OPKIT_TRY(foldInto(edit, *conv, *affine));
    edit.remove(norm);
    edit.moveOutput(*conv, 0, norm.outputs[0]);
    edit.count();
  }
  return edit.finish();
}

}  // namespace

void addPasses(OpRegistry& registry) {
  registry.addPass({"fold-batch-norm", "BatchNormalization with constant statistics goes into the Conv before it",
                    GraphPass::Position::BeforeLowering, foldBatchNorm, nullptr});
}

}  // namespace opkit::ops::batch_norm
