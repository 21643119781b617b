#include "ops/shape/known_extents.h"

#include <algorithm>

#include "engine/op/op_registry.h"
#include "ops/binary/binary_generated.h"
#include "ops/gather/gather_generated.h"
#include "ops/matmul/matmul_generated.h"
#include "ops/reshape/reshape_generated.h"
#include "ops/transpose/transpose_generated.h"

namespace opkit::ops::shape {
namespace {

/// Operators whose output 0 has the shape of input 0.
constexpr std::string_view kSameShape[] = {"Abs",
                                           "Cast",
                                           "Clip",
                                           "DequantizeLinear",
                                           "Dropout",
                                           "Elu",
                                           "Erf",
                                           "Exp",
                                           "Gelu",
                                           "HardSigmoid",
                                           "Identity",
                                           "Neg",
                                           "Log",
                                           "LayerNormalization",
                                           "LeakyRelu",
                                           "LogSoftmax",
                                           "QuantizeLinear",
                                           "Relu",
                                           "Sigmoid",
                                           "Softmax",
                                           "Sqrt",
                                           "Tanh"};
constexpr std::string_view kBroadcasting[] = {"Add", "Div", "Mul", "Pow", "Sub"};

bool isOneOf(std::span<const std::string_view> list, std::string_view type) {
  return std::ranges::find(list, type) != list.end();
}

}  // namespace

bool KnownExtents::Known::isDescribed() const {
  return isWhole && dtype && std::ranges::find(trailing, kDynamic) == trailing.end();
}

int64_t KnownExtents::Known::extent(size_t fromEnd) const {
  if (fromEnd < trailing.size()) return trailing[trailing.size() - 1 - fromEnd];
  return isWhole ? 1 : kDynamic;
}

KnownExtents::KnownExtents(const Model& model, const OpRegistry& registry) : known_(model.tensors.size()) {
  for (const TensorId t : known_.ids()) {
    const ModelTensor& tensor = model.tensors[t];
    if (tensor.constant) known_[t] = described(tensor.constant->desc, &*tensor.constant);
  }
  for (const TensorId input : model.inputs) {
    const TensorDesc& declared = model.tensors[input].desc;
    const bool isOpen = std::ranges::all_of(declared.shape, [](int64_t extent) { return extent == kDynamic; });
    if (!isOpen) known_[input] = described(declared);
  }
  for (const ModelNode& node : model.nodes)
    if (!inferWhole(node, registry) && !node.outputs.empty() && node.outputs[0]) known_[node.outputs[0]] = partly(node);
}

int64_t KnownExtents::extent(TensorId tensor, size_t fromEnd) const {
  if (!known_.contains(tensor)) return kDynamic;
  const Known& known = known_[tensor];
  return fromEnd < known.trailing.size() ? known.extent(fromEnd) : kDynamic;
}

KnownExtents::Known KnownExtents::described(const TensorDesc& desc, const Tensor* constant) {
  if (isObject(desc.dtype)) return {};
  return {desc.shape, true, desc.dtype, constant};
}

const KnownExtents::Known& KnownExtents::of(const ModelNode& node, size_t input) const {
  static const Known kNothing;
  if (input >= node.inputs.size() || !node.inputs[input]) return kNothing;
  return known_[node.inputs[input]];
}

/// By the shape rule of the operator, if every input has a description.
bool KnownExtents::inferWhole(const ModelNode& node, const OpRegistry& registry) {
  const OpDef* def = registry.find(node.type);
  if (!def || !def->inferShapes || def->control) return false;
  std::vector<TensorDesc> descs(node.inputs.size());
  std::vector<const TensorDesc*> inputs(node.inputs.size(), nullptr);
  std::vector<const Tensor*> contents(node.inputs.size(), nullptr);
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    if (!node.inputs[i]) continue;
    const Known& known = of(node, i);
    if (!known.isDescribed()) return false;
    descs[i] = {*known.dtype, known.trailing};
    inputs[i] = &descs[i];
    contents[i] = known.constant;
  }
  const auto outputs = inferShapes(*def, {node.params, inputs, contents, node.outputs.size()});
  if (!outputs) return false;  // reported with the node's name at the resize
  for (size_t i = 0; i < outputs->size(); ++i)
    if (node.outputs[i]) known_[node.outputs[i]] = described((*outputs)[i]);
  return true;
}

/// What is known of output 0 although something is not known of an input.
KnownExtents::Known KnownExtents::partly(const ModelNode& node) const {
  if (isOneOf(kSameShape, node.type)) return {of(node, 0).trailing, of(node, 0).isWhole};
  if (isOneOf(kBroadcasting, node.type) && !unpackParams<binary::BinaryParams>(node.params).axis)
    return broadcast(of(node, 0), of(node, 1));
  if (node.type == "Reshape") return reshaped(node);
  if (node.type == "Transpose") return transposed(node);
  if (node.type == "MatMul") return product(node);
  if (node.type == "Gather" && unpackParams<gather::GatherParams>(node.params).axis == 0) {
    const Known& data = of(node, 0);
    if (data.isWhole && !data.trailing.empty()) return {Shape(data.trailing.begin() + 1, data.trailing.end())};
  }
  return {};
}

/// Aligned at the last axes. An extent other than 1 settles that of the result.
KnownExtents::Known KnownExtents::broadcast(const Known& a, const Known& b) {
  Known result{Shape(std::max(a.trailing.size(), b.trailing.size())), a.isWhole && b.isWhole};
  for (size_t i = 0; i < result.trailing.size(); ++i) {
    const int64_t x = a.extent(i), y = b.extent(i);
    int64_t& extent = result.trailing[result.trailing.size() - 1 - i];
    if (x != kDynamic && x != 1)
      extent = x;
    else
      extent = y != kDynamic && y != 1 ? y : x == 1 && y == 1 ? 1 : kDynamic;
  }
  return result;
}

KnownExtents::Known KnownExtents::reshaped(const ModelNode& node) const {
  const Tensor* list = of(node, 1).constant;
  if (!list || list->desc.dtype != DType::Int64) return {};
  const bool zeroIsZero = unpackParams<reshape::ReshapeParams>(node.params).allow_zero;
  const Known& x = of(node, 0);
  Known result{toInt64(*list), true};
  for (size_t d = 0; d < result.trailing.size(); ++d) {
    int64_t& extent = result.trailing[d];
    if (extent == 0 && !zeroIsZero) extent = x.isWhole && d < x.trailing.size() ? x.trailing[d] : kDynamic;
    if (extent < 0) extent = kDynamic;
  }
  return result;
}

KnownExtents::Known KnownExtents::transposed(const ModelNode& node) const {
  const Known& x = of(node, 0);
  const std::vector<int> perm = unpackParams<transpose::TransposeParams>(node.params).perm;
  if (!x.isWhole || (!perm.empty() && perm.size() != x.trailing.size())) return {};
  Known result{x.trailing, true};
  if (perm.empty()) std::ranges::reverse(result.trailing);
  for (size_t d = 0; d < perm.size(); ++d) {
    if (perm[d] < 0 || static_cast<size_t>(perm[d]) >= perm.size()) return {};
    result.trailing[d] = x.trailing[static_cast<size_t>(perm[d])];
  }
  return result;
}

/// The columns of the right matrix are the last extent, unless one operand may be a vector.
KnownExtents::Known KnownExtents::product(const ModelNode& node) const {
  const auto params = unpackParams<matmul::MatMulParams>(node.params);
  const Known &a = of(node, 0), &b = of(node, 1);
  const size_t row = params.trans_a ? 0 : 1, column = params.trans_b ? 1 : 0;  // from the end
  if (b.trailing.size() < 2) return {};
  if (a.trailing.size() >= 2) return {{a.extent(row), b.extent(column)}};
  return {{b.extent(column)}};
}

}  // namespace opkit::ops::shape
