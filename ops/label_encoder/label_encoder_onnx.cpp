#include <algorithm>
#include <cmath>
#include <numeric>

#include "engine/import/onnx/onnx_rules.h"
#include "engine/tensor/objects.h"
#include "ops/label_encoder/label_encoder_parts.h"

namespace opkit::ops::label_encoder {
namespace {

using Strings = std::vector<std::string>;

bool isStrings(const Tensor& tensor) { return tensor.desc.dtype == DType::String; }

/// The one list of PREFIX_tensor, PREFIX_strings, PREFIX_int64s and PREFIX_floats that the node has.
Result<Tensor> listOf(const OnnxNode& node, const std::string& prefix) {
  const Strings strings = node.stringsAttribute(prefix + "_strings");
  const std::vector<int64_t> integers = node.intsAttribute(prefix + "_int64s");
  const std::vector<float> floats = node.floatsAttribute(prefix + "_floats");
  if (node.hasAttribute(prefix + "_tensor")) {
    OPKIT_ASSIGN(Tensor tensor, node.tensorAttribute(prefix + "_tensor"));
    tensor.desc.shape = {tensor.desc.elements()};
    return tensor;
  }
  const auto countOf = [](const auto& list) { return Shape{static_cast<int64_t>(list.size())}; };
  if (!strings.empty()) return stringTensor(countOf(strings), strings);
  if (!integers.empty()) return Tensor::fromValues<int64_t>({DType::Int64, countOf(integers)}, integers);
  if (!floats.empty()) return Tensor::fromValues<float>({DType::Float32, countOf(floats)}, floats);
  return Status::invalidArgument("LabelEncoder: expected one of {0}_tensor, {0}_strings, {0}_int64s and {0}_floats",
                                 prefix);
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
  if (dtype == DType::String) return stringTensor({1}, {node.stringAttribute("default_string", "_Unused")});
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
bool isBefore(const std::string& a, const std::string& b) { return a < b; }

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

std::vector<size_t> orderOf(const Tensor& keys) {
  if (isStrings(keys)) return orderOf(stringsOf(keys));
  const OracleTensor numbers = OracleTensor::fromTensor(keys);
  return numbers.isReal() ? orderOf(numbers.real) : orderOf(numbers.integer);
}

Result<Tensor> taken(const Tensor& list, const std::vector<size_t>& places) {
  const Shape shape{static_cast<int64_t>(places.size())};
  if (isStrings(list)) {
    Strings strings;
    for (const size_t place : places) strings.push_back(stringsOf(list)[place]);
    return stringTensor(shape, std::move(strings));
  }
  const OracleTensor from = OracleTensor::fromTensor(list);
  OracleTensor to({from.desc.dtype, shape});
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

/// Places of strings in a sorted dictionary.
Result<Tensor> placesOf(const Tensor& list, const Strings& dictionary) {
  std::vector<int64_t> places;
  for (const std::string& text : stringsOf(list))
    places.push_back(std::ranges::lower_bound(dictionary, text) - dictionary.begin());
  return Tensor::fromValues<int64_t>({DType::Int64, list.desc.shape}, places);
}

Status emitStrings(OnnxNode& node, int x, int keys, const Tensor& values, const Tensor& other) {
  Strings dictionary = stringsOf(values);
  dictionary.push_back(stringsOf(other)[0]);
  std::ranges::sort(dictionary);
  dictionary.erase(std::unique(dictionary.begin(), dictionary.end()), dictionary.end());
  OPKIT_ASSIGN(Tensor valuePlaces, placesOf(values, dictionary));
  OPKIT_ASSIGN(Tensor otherPlace, placesOf(other, dictionary));
  const int y = node.emitIntermediate("LabelEncoder", {x, keys, node.addConstant("values", std::move(valuePlaces)),
                                                       node.addConstant("other", std::move(otherPlace))});
  const Shape count{static_cast<int64_t>(dictionary.size())};
  return node.emit("DecodeStrings", {y, node.addConstant("dictionary", stringTensor(count, std::move(dictionary)))});
}

/// Strings are looked up as their places among all strings at hand: places rise as strings do.
Status rule(OnnxNode& node) {
  OPKIT_ASSIGN(Tensor keys, listOf(node, "keys"));
  OPKIT_ASSIGN(Tensor values, listOf(node, "values"));
  if (keys.desc.elements() != values.desc.elements())
    return Status::invalidArgument("LabelEncoder: {} keys must have as many values, got {}", keys.desc.elements(),
                                   values.desc.elements());
  const std::vector<size_t> order = orderOf(keys);
  OPKIT_ASSIGN(keys, taken(keys, order));
  OPKIT_ASSIGN(values, taken(values, order));
  OPKIT_ASSIGN(Tensor other, otherOf(node, values.desc.dtype));
  const bool areStrings = isStrings(keys);
  std::vector<int> inputs{node.input(0), node.addConstant("keys", std::move(keys))};
  if (areStrings) {
    const std::vector<int> encoded = node.emitIntermediates("EncodeStrings", inputs, 3);
    inputs = {encoded[1], encoded[2]};
  }
  if (isStrings(values)) return emitStrings(node, inputs[0], inputs[1], values, other);
  return node.emit("LabelEncoder", {inputs[0], inputs[1], node.addConstant("values", std::move(values)),
                                    node.addConstant("other", std::move(other))});
}

}  // namespace

void addOnnx(OnnxRules& rules) {
  rules.add("ai.onnx.ml::LabelEncoder",
            {"default_float",
             "default_int64",
             "default_string",
             {"default_tensor", 4},
             "keys_floats",
             "keys_int64s",
             "keys_strings",
             {"keys_tensor", 4},
             "values_floats",
             "values_int64s",
             "values_strings",
             {"values_tensor", 4}},
            rule, 2);
  rules.note("ai.onnx.ml::LabelEncoder", {"LabelEncoder"});
}

}  // namespace opkit::ops::label_encoder
