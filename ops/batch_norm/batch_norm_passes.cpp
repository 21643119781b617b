// fold-batch-norm: a BatchNormalization after a Conv is a scale and a shift of its weights and bias.
//
// Assumes, and leaves both nodes otherwise:
// - Nothing else reads the convolution and it is no output of the model (fold); it has no clamp (filterOf).
// - Weights, bias and statistics are constants in f32 (floats), all but the weights [channels] (perChannel).
// - Variance + epsilon is above 0, and f32 holds the factor, the new bias and the new weights: the largest weight of
//   each channel is neither denormal nor so large that products overflow which did not before (isSafe).
#include <cmath>
#include <limits>

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

/// As above, of shape [channels].
const Tensor* perChannel(const ModelEdit& edit, const ModelNode& node, size_t input, int64_t channels) {
  const Tensor* value = floats(edit, node, input);
  return value && value->desc.shape == Shape{channels} ? value : nullptr;
}

struct Affine {
  std::vector<double> scale, shift;  // per channel
};

std::optional<Affine> affineOf(const ModelEdit& edit, const ModelNode& norm, int64_t channels) {
  const Tensor* values[4];
  for (size_t i = 0; i < 4; ++i) {
    values[i] = perChannel(edit, norm, i + 1, channels);
    if (!values[i]) return std::nullopt;
  }
  const double epsilon = unpackParams<BatchNormParams>(norm.params).epsilon;
  Affine affine;
  for (size_t c = 0; c < static_cast<size_t>(channels); ++c) {
    const double scale = values[0]->data<float>()[c] / std::sqrt(values[3]->data<float>()[c] + epsilon);
    affine.scale.push_back(scale);
    affine.shift.push_back(values[1]->data<float>()[c] - values[2]->data<float>()[c] * scale);
  }
  return affine;
}

/// Whether f32 holds a channel of the convolution after scale and shift as well as before; false if one is NaN.
bool isSafe(std::span<const float> weights, double scale, double newBias) {
  constexpr double kLargeWeight = 0x1p64;  // its product with values up to 2^63 is finite
  double largest = 0;
  for (const float weight : weights) largest = std::fmax(largest, std::fabs(weight));
  const double after = largest * std::fabs(scale);
  const bool isNormal = after == 0 || after >= std::numeric_limits<float>::min();
  return isNormal && after <= std::fmax(largest, kLargeWeight) && std::isfinite(static_cast<float>(newBias));
}

/// A convolution with constant weights.
struct Filter {
  const Tensor& weights;  // [channels, ...]
  const Tensor* bias;     // [channels], or null

  std::span<const float> channel(size_t c) const {
    const std::span<const float> all = weights.data<float>();
    const size_t length = all.size() / static_cast<size_t>(weights.desc.shape[0]);
    return all.subspan(c * length, length);
  }
  double biasAfter(const Affine& affine, size_t c) const {
    return (bias ? double{bias->data<float>()[c]} : 0.0) * affine.scale[c] + affine.shift[c];
  }
  bool isSafeAfter(const Affine& affine) const {
    for (size_t c = 0; c < affine.scale.size(); ++c)
      if (!isSafe(channel(c), affine.scale[c], biasAfter(affine, c))) return false;
    return true;
  }
};

/// Conv followed by scale and shift, as weights and bias; rounded once from double.
Status foldInto(ModelEdit& edit, ModelNode& conv, const Filter& filter, const Affine& affine) {
  OPKIT_ASSIGN(const Tensor weights, Tensor::onHost(filter.weights.desc));
  OPKIT_ASSIGN(const Tensor bias, Tensor::onHost({DType::Float32, {filter.weights.desc.shape[0]}}));
  float* next = weights.data<float>().data();
  for (size_t c = 0; c < affine.scale.size(); ++c) {
    for (const float weight : filter.channel(c)) *next++ = static_cast<float>(weight * affine.scale[c]);
    bias.data<float>()[c] = static_cast<float>(filter.biasAfter(affine, c));
  }
  edit.replaceInput(conv, 1, edit.addConstant(conv.name + "/folded weights", weights));
  edit.replaceInput(conv, 2, edit.addConstant(conv.name + "/folded bias", bias));
  return Status::ok();
}

/// The filter of a convolution that has no activation.
std::optional<Filter> filterOf(const ModelEdit& edit, const ModelNode& conv) {
  const Tensor* weights = floats(edit, conv, 1);
  if (!weights || weights->desc.shape.empty() || clampOf(unpackParams<conv::ConvParams>(conv.params)).isActive())
    return std::nullopt;
  const bool hasBias = conv.inputs.size() > 2 && conv.inputs[2];
  const Tensor* bias = hasBias ? perChannel(edit, conv, 2, weights->desc.shape[0]) : nullptr;
  return hasBias && !bias ? std::nullopt : std::optional(Filter{*weights, bias});
}

/// True if the convolution does the work of `norm`.
Result<bool> fold(ModelEdit& edit, const ModelNode& norm) {
  ModelNode* conv = edit.producer(norm.inputs[0], "Conv");
  if (!conv || !edit.isOnlyReader(norm.inputs[0])) return false;
  const std::optional<Filter> filter = filterOf(edit, *conv);
  const std::optional<Affine> affine =
      filter ? affineOf(edit, norm, filter->weights.desc.shape[0]) : std::optional<Affine>();
  if (!affine || !filter->isSafeAfter(*affine)) return false;
  OPKIT_TRY(foldInto(edit, *conv, *filter, *affine));
  edit.moveOutput(*conv, 0, norm.outputs[0]);
  return true;
}

Result<size_t> foldBatchNorm(Model& model, const OpRegistry&) {
  ModelEdit edit(model);
  for (ModelNode& norm : model.nodes) {
    if (norm.type != "BatchNormalization" || !norm.outputs[0]) continue;
    OPKIT_ASSIGN(const bool isFolded, fold(edit, norm));
    if (!isFolded) continue;
    edit.remove(norm);
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
