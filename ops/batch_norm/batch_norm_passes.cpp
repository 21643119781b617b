// fold-batch-norm: a BatchNormalization after a Conv is a scale and a shift of its weights and bias.
//
// Assumes, and leaves both nodes otherwise:
// - Nothing else reads the convolution and it is no output of the model (fold); it has no clamp (filterOf).
// - Weights, bias and statistics are constants in f32 or f16 (floats), all but the weights [channels] (perChannel).
// - Variance + epsilon is above 0, and the type of the weights holds the factor, the new bias and the new weights: the
//   largest weight of each channel is neither denormal nor so large that products overflow which did not before
//   (isSafe).
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

using Floats = std::vector<float>;

/// The constant values of an input in f32 or f16.
std::optional<Floats> floats(const ModelEdit& edit, const ModelNode& node, size_t input) {
  const Tensor* value = input < node.inputs.size() ? edit.constant(node.inputs[input]) : nullptr;
  if (!value || (value->desc.dtype != DType::Float32 && value->desc.dtype != DType::Float16)) return std::nullopt;
  Floats values(static_cast<size_t>(value->desc.elements()));
  if (value->desc.dtype == DType::Float32)
    std::ranges::copy(value->data<float>(), values.begin());
  else
    std::ranges::transform(value->data<Half>(), values.begin(), [](Half half) { return toFloat(half); });
  return values;
}

/// As above, of shape [channels].
std::optional<Floats> perChannel(const ModelEdit& edit, const ModelNode& node, size_t input, int64_t channels) {
  auto values = floats(edit, node, input);
  return values && edit.constant(node.inputs[input])->desc.shape == Shape{channels} ? values : std::nullopt;
}

struct Affine {
  std::vector<double> scale, shift;  // per channel
};

std::optional<Affine> affineOf(const ModelEdit& edit, const ModelNode& norm, int64_t channels) {
  std::optional<Floats> values[4];
  for (size_t i = 0; i < 4; ++i) {
    values[i] = perChannel(edit, norm, i + 1, channels);
    if (!values[i]) return std::nullopt;
  }
  const double epsilon = unpackParams<BatchNormParams>(norm.params).epsilon;
  Affine affine;
  for (size_t c = 0; c < static_cast<size_t>(channels); ++c) {
    const double scale = (*values[0])[c] / std::sqrt((*values[3])[c] + epsilon);
    affine.scale.push_back(scale);
    affine.shift.push_back((*values[1])[c] - (*values[2])[c] * scale);
  }
  return affine;
}

/// Of the type in which a convolution keeps its weights.
struct Range {
  double leastNormal, greatest;
  double large;  // the product of a weight with values up to 2^63 is finite; kernels compute f16 in f32
};

Range rangeOf(DType dtype) {
  if (dtype == DType::Float16) return {0x1p-14, 65504, 65504};
  return {std::numeric_limits<float>::min(), std::numeric_limits<float>::max(), 0x1p64};
}

/// Whether the range holds a channel of the convolution after scale and shift as well as before; false if one is NaN.
bool isSafe(std::span<const float> weights, double scale, double newBias, const Range& range) {
  double largest = 0;
  for (const float weight : weights) largest = std::fmax(largest, std::fabs(weight));
  const double after = largest * std::fabs(scale);
  const bool isNormal = after == 0 || after >= range.leastNormal;
  return isNormal && after <= std::fmax(largest, range.large) && std::fabs(newBias) <= range.greatest;
}

/// A convolution with constant weights.
struct Filter {
  TensorDesc desc;  // of the weights: [channels, ...]
  Floats weights;
  std::optional<Floats> bias;  // [channels]

  std::span<const float> channel(size_t c) const {
    const size_t length = weights.size() / static_cast<size_t>(desc.shape[0]);
    return std::span(weights).subspan(c * length, length);
  }
  double biasAfter(const Affine& affine, size_t c) const {
    return (bias ? double{(*bias)[c]} : 0.0) * affine.scale[c] + affine.shift[c];
  }
  bool isSafeAfter(const Affine& affine) const {
    for (size_t c = 0; c < affine.scale.size(); ++c)
      if (!isSafe(channel(c), affine.scale[c], biasAfter(affine, c), rangeOf(desc.dtype))) return false;
    return true;
  }
};

/// Conv followed by scale and shift, as weights and bias; rounded once from double.
Status foldInto(ModelEdit& edit, ModelNode& conv, const Filter& filter, const Affine& affine) {
  std::vector<double> weights, bias;
  for (size_t c = 0; c < affine.scale.size(); ++c) {
    for (const float weight : filter.channel(c)) weights.push_back(weight * affine.scale[c]);
    bias.push_back(filter.biasAfter(affine, c));
  }
  const auto constant = [&](const char* name, const Shape& shape,
                            const std::vector<double>& values) -> Result<TensorId> {
    OPKIT_ASSIGN(const Tensor exact, Tensor::fromValues<double>({DType::Float64, shape}, values));
    OPKIT_ASSIGN(const Tensor rounded, Tensor::onHost({filter.desc.dtype, shape}));
    convertElements(exact, rounded);
    return edit.addConstant(conv.name + name, rounded);
  };
  OPKIT_ASSIGN(const TensorId newWeights, constant("/folded weights", filter.desc.shape, weights));
  OPKIT_ASSIGN(const TensorId newBias, constant("/folded bias", {filter.desc.shape[0]}, bias));
  edit.replaceInput(conv, 1, newWeights);
  edit.replaceInput(conv, 2, newBias);
  return Status::ok();
}

/// The filter of a convolution that has no activation.
std::optional<Filter> filterOf(const ModelEdit& edit, const ModelNode& conv) {
  auto weights = floats(edit, conv, 1);
  if (!weights || clampOf(unpackParams<conv::ConvParams>(conv.params)).isActive()) return std::nullopt;
  const TensorDesc& desc = edit.constant(conv.inputs[1])->desc;
  if (desc.shape.empty() || desc.shape[0] == 0) return std::nullopt;
  const bool hasBias = conv.inputs.size() > 2 && conv.inputs[2];
  auto bias = hasBias ? perChannel(edit, conv, 2, desc.shape[0]) : std::nullopt;
  return hasBias && !bias ? std::nullopt : std::optional(Filter{desc, *std::move(weights), std::move(bias)});
}

/// True if the convolution does the work of `norm`.
Result<bool> fold(ModelEdit& edit, const ModelNode& norm) {
  ModelNode* conv = edit.producer(norm.inputs[0], "Conv");
  if (!conv || !edit.isOnlyReader(norm.inputs[0])) return false;
  const std::optional<Filter> filter = filterOf(edit, *conv);
  const std::optional<Affine> affine = filter ? affineOf(edit, norm, filter->desc.shape[0]) : std::optional<Affine>();
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
