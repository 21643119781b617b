// fuse-layer-norm: replaces the mean, variance, division and affine part that exporters write for a layer normalisation
// over the last axis by one LayerNormalization.
//
//   d = x - ReduceMean(x);  y = d / Sqrt(ReduceMean(d * d or Pow(d, 2)) + epsilon) * scale + bias
//
// Assumes:
//   scale and bias are [n] with n > 1, and the last extent of x is known to be n: neither broadcasts the other
//   epsilon and the exponent have one element and at most the one axis that x has for certain, so they raise no rank
//   epsilon is a float exactly: the parameter of LayerNormalization holds no double
//   the arithmetic has no parameters: no axis of old broadcasting, no clamp
//   nothing else reads what lies between, and none of it is an output of the model
#include "engine/graph/model_edit.h"
#include "engine/graph/pass.h"
#include "engine/op/op_registry.h"
#include "ops/layer_norm/layer_norm_generated.h"
#include "ops/reduce/reduce_generated.h"
#include "ops/shape/known_extents.h"

namespace opkit::ops::layer_norm {
namespace {

using Parts = std::vector<ModelNode*>;

/// The tensor that the node averages over its last axis (kept); absent otherwise.
TensorId averaged(const ModelEdit& edit, const ModelNode& mean) {
  const Tensor* axes = mean.inputs.size() > 1 ? edit.constant(mean.inputs[1]) : nullptr;
  const auto params = unpackParams<reduce::ReduceParams>(mean.params);
  const bool last = axes && !isFloat(axes->desc.dtype) && toInt64(*axes) == std::vector<int64_t>{-1};
  return last && params.keep_dims ? mean.inputs[0] : TensorId();
}

/// The node that makes `tensor`, if it has this type, no parameters (but for ReduceMean), and `readers` readers in all.
ModelNode* part(const ModelEdit& edit, TensorId tensor, std::string_view type, size_t readers, Parts& parts) {
  ModelNode* node = edit.producer(tensor, type);
  if (!node || edit.isOutput(tensor) || edit.readerCount(tensor) != readers) return nullptr;
  if (type != "ReduceMean" && !node->params.empty()) return nullptr;
  parts.push_back(node);
  return node;
}

/// A constant of one element that raises no rank and that a float holds.
std::optional<float> exactScalar(const ModelEdit& edit, TensorId tensor) {
  const std::optional<float> value = edit.scalar(tensor);
  if (!value || edit.constant(tensor)->desc.shape.size() > 1) return std::nullopt;
  const Tensor& constant = *edit.constant(tensor);
  const bool isExact = constant.desc.dtype != DType::Float64 || constant.data<double>()[0] == double{*value};
  return isExact ? value : std::nullopt;
}

struct Normalised {
  TensorId x;
  float epsilon;
};

/// The x and epsilon of `division`, if it divides x - mean by its standard deviation.
std::optional<Normalised> normalised(const ModelEdit& edit, const ModelNode& division, Parts& parts) {
  const TensorId centred = division.inputs[0];
  ModelNode* root = part(edit, division.inputs[1], "Sqrt", 1, parts);
  ModelNode* add = root ? part(edit, root->inputs[0], "Add", 1, parts) : nullptr;
  if (!add) return std::nullopt;
  const size_t at = exactScalar(edit, add->inputs[0]) ? 0 : 1;
  const std::optional<float> epsilon = exactScalar(edit, add->inputs[at]);
  ModelNode* variance = epsilon ? part(edit, add->inputs[1 - at], "ReduceMean", 1, parts) : nullptr;
  const TensorId squareValue = variance ? averaged(edit, *variance) : TensorId();
  ModelNode* square = edit.producer(squareValue);
  if (!square || !edit.isOnlyReader(squareValue) || square->inputs[0] != centred || !square->params.empty())
    return std::nullopt;
  const bool isSquare = (square->type == "Pow" && exactScalar(edit, square->inputs[1]) == 2.0f) ||
                        (square->type == "Mul" && square->inputs[1] == centred);
  if (!isSquare) return std::nullopt;
  parts.push_back(square);
  ModelNode* subtraction = part(edit, centred, "Sub", square->type == "Mul" ? 3 : 2, parts);
  if (!subtraction) return std::nullopt;
  ModelNode* mean = part(edit, subtraction->inputs[1], "ReduceMean", 1, parts);
  const TensorId x = mean ? averaged(edit, *mean) : TensorId();
  if (!x || subtraction->inputs[0] != x) return std::nullopt;
  return Normalised{x, *epsilon};
}

/// A constant of one value per position of the last axis; a single one might be broadcast instead.
bool isPerPosition(const ModelEdit& edit, TensorId tensor) {
  const Tensor* value = edit.constant(tensor);
  return value && value->desc.shape.size() == 1 && value->desc.elements() > 1;
}

/// x has one position per value of `scale` and of `bias`: nothing broadcasts.
bool fits(const ModelEdit& edit, const shape::KnownExtents& extents, TensorId x, TensorId scale, TensorId bias) {
  const int64_t positions = edit.constant(scale)->desc.elements();
  return extents.extent(x) == positions && edit.constant(bias)->desc.elements() == positions;
}

/// `bias` is Add(Mul(Div, scale), bias).
bool fuse(ModelEdit& edit, const shape::KnownExtents& extents, ModelNode& bias) {
  Parts parts;
  for (size_t i = 0; i < 2; ++i) {
    parts.clear();
    ModelNode* scale = part(edit, bias.inputs[i], "Mul", 1, parts);
    if (!scale || !isPerPosition(edit, bias.inputs[1 - i])) continue;
    for (size_t k = 0; k < 2; ++k) {
      parts.resize(1);
      ModelNode* division = part(edit, scale->inputs[k], "Div", 1, parts);
      if (!division || !isPerPosition(edit, scale->inputs[1 - k])) continue;
      const std::optional<Normalised> found = normalised(edit, *division, parts);
      if (!found || !fits(edit, extents, found->x, scale->inputs[1 - k], bias.inputs[1 - i])) continue;
      LayerNormParamsT params;
      params.epsilon = found->epsilon;
      const ModelNode norm{bias.name,    "LayerNormalization", 1, {found->x, scale->inputs[1 - k], bias.inputs[1 - i]},
                           bias.outputs, packParams(params),   {}};
      for (ModelNode* node : parts) edit.remove(*node);
      edit.replaceNode(bias, norm);
      return true;
    }
  }
  return false;
}

Result<size_t> fuseLayerNorm(Model& model, const OpRegistry& registry) {
  ModelEdit edit(model);
  const shape::KnownExtents extents(model, registry);
  for (ModelNode& node : model.nodes)
    if (node.type == "Add" && !edit.isRemoved(node) && node.params.empty() && fuse(edit, extents, node)) edit.count();
  return edit.finish();
}

}  // namespace

void addPasses(OpRegistry& registry) {
  registry.addPass({"fuse-layer-norm", "the nine nodes of a layer normalisation are one LayerNormalization",
                    GraphPass::Position::BeforeLowering, fuseLayerNorm, nullptr});
}

}  // namespace opkit::ops::layer_norm
