#include <algorithm>
#include <cmath>
#include <numeric>

#include "engine/import/onnx/onnx_rules.h"
#include "ops/label_encoder/label_encoder_parts.h"

namespace opkit::ops::label_encoder {
namespace {

/// The one of PREFIX_tensor, PREFIX_int64s and PREFIX_floats that the node has, a list.
Result<Tensor> listOf(const OnnxNode& node, const std::string& prefix) {
  if (!node.stringsAttribute(prefix + "_strings").empty())
    return Status::unsupported("LabelEncoder: {} must be numbers, got {}_strings", prefix, prefix);
  const std::vector<int64_t> integers = node.intsAttribute(prefix + "_int64s");
  const std::vector<float> floats = node.floatsAttribute(prefix + "_floats");
  if (node.hasAttribute(prefix + "_tensor")) {
    OPKIT_ASSIGN(Tensor tensor, node.tensorAttribute(prefix + "_tensor"));
    tensor.desc.shape = {tensor.desc.elements()};
    return tensor;
  }
  const auto countOf = [](const auto& list) { return Shape{static_cast<int64_t>(list.size())}; };
  if (!integers.empty()) return Tensor::fromValues<int64_t>({DType::Int64, countOf(integers)}, integers);
  if (!floats.empty()) return Tensor::fromValues<float>({DType::Float32, countOf(floats)}, floats);
  return Status::invalidArgument("LabelEncoder: expected one of {0}_tensor, {0}_int64s and {0}_floats", prefix);
}

/// The value of unknown elements: of the type of `values`.
Result<Tensor> otherOf(const OnnxNode& node, DType dtype) {
  if (node.hasAttribute("default_tensor")) {
    OPKIT_ASSIGN(Tensor tensor, node.tensorAttribute("default_tensor"));
    if (tensor.desc.dtype != dtype || tensor.desc.elements() != 1)
      return Status::invalidArgument("LabelEncoder: default_tensor must hold one {}, got {} of {}", nameOf(dtype),
                                     tensor.desc.elements(), nameOf(tensor.desc.dtype));
    return tensor;
  }
  OracleTensor value({dtype, {1}});
  if (value.isReal())
    value.real = {node.floatAttribute("default_float", -0.0f)};
  else
    value.integer = {node.intAttribute("default_int64", -1)};
  OPKIT_ASSIGN(Tensor tensor, Tensor::onHost(value.desc));
  value.toTensor(tensor);
  return tensor;
}

bool isBefore(double a, double b) { return std::isnan(b) ? !std::isnan(a) : a < b; }
bool isBefore(int64_t a, int64_t b) { return a < b; }

/// The places of the keys in rising order. Of equal keys only the last one stays.
template <class T>
std::vector<size_t> orderOf(const std::vector<T>& keys) {
  std::vector<size_t> order(keys.size()), kept;
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, [&](size_t a, size_t b) { return isBefore(keys[a], keys[b]); });
  for (size_t i = 0; i < order.size(); ++i)
    if (i + 1 == order.size() || isBefore(keys[order[i]], keys[order[i + 1]])) kept.push_back(order[i]);
  return kept;
}

Result<Tensor> taken(const OracleTensor& from, const std::vector<size_t>& places) {
  OracleTensor to({from.desc.dtype, {static_cast<int64_t>(places.size())}});
  for (size_t i = 0; i < places.size(); ++i) {
    if (from.isReal())
      to.real[i] = from.real[places[i]];
    else
      to.integer[i] = from.integer[places[i]];
  }
  OPKIT_ASSIGN(Tensor tensor, Tensor::onHost(to.desc));
  to.toTensor(tensor);
  return tensor;
}

Status rule(OnnxNode& node) {
  OPKIT_ASSIGN(const Tensor keyTensor, listOf(node, "keys"));
  OPKIT_ASSIGN(const Tensor valueTensor, listOf(node, "values"));
  const OracleTensor keys = OracleTensor::fromTensor(keyTensor), values = OracleTensor::fromTensor(valueTensor);
  if (keys.elements() != values.elements())
    return Status::invalidArgument("LabelEncoder: {} keys must have as many values, got {}", keys.elements(),
                                   values.elements());
  const std::vector<size_t> order = keys.isReal() ? orderOf(keys.real) : orderOf(keys.integer);
  OPKIT_ASSIGN(Tensor sortedKeys, taken(keys, order));
  OPKIT_ASSIGN(Tensor sortedValues, taken(values, order));
  OPKIT_ASSIGN(Tensor other, otherOf(node, values.desc.dtype));
  return node.emit("LabelEncoder",
                   {node.input(0), node.addConstant("keys", std::move(sortedKeys)),
                    node.addConstant("values", std::move(sortedValues)), node.addConstant("other", std::move(other))});
}

}  // namespace

void addOnnx(OnnxRules& rules) {
  rules.add("ai.onnx.ml::LabelEncoder",
            {"default_float", "default_int64", "default_string", "default_tensor", "keys_floats", "keys_int64s",
             "keys_strings", "keys_tensor", "values_floats", "values_int64s", "values_strings", "values_tensor"},
            rule, 2);
  rules.note("ai.onnx.ml::LabelEncoder", {"LabelEncoder"}, "keys and values are numbers, not strings");
}

}  // namespace opkit::ops::label_encoder
