// LabelEncoder and CategoryMapper of ai.onnx.ml. Strings among keys and values become numbers (known_strings.h).
#include <algorithm>
#include <cmath>
#include <numeric>

#include "engine/import/onnx/onnx_rules.h"
#include "engine/op/oracle_elements.h"
#include "engine/tensor/objects.h"
#include "ops/gather/gather_generated.h"
#include "ops/label_encoder/label_encoder_parts.h"
#include "ops/text/known_strings.h"

namespace opkit::ops::label_encoder {
namespace {

using Strings = std::vector<std::string>;

bool isStrings(const Tensor& tensor) { return tensor.desc.dtype == DType::String; }

Shape countOf(const auto& list) { return {std::ssize(list)}; }
Tensor tensorOf(const Strings& strings) { return stringTensor(countOf(strings), strings); }
Result<Tensor> tensorOf(const std::vector<int64_t>& integers) {
  return Tensor::fromValues<int64_t>({DType::Int64, countOf(integers)}, integers);
}

/// The one list of PREFIX_tensor, PREFIX_strings, PREFIX_int64s and PREFIX_floats that the node has.
Result<Tensor> listOf(const OnnxNode& node, const std::string& prefix) {
  const Strings strings = node.stringsAttribute(prefix + "_strings");
  const std::vector<int64_t> integers = node.intsAttribute(prefix + "_int64s");
  const std::vector<float> floats = node.floatsAttribute(prefix + "_floats");
  const bool hasTensor = node.hasAttribute(prefix + "_tensor");
  if (const int given = hasTensor + !strings.empty() + !integers.empty() + !floats.empty(); given != 1)
    return Status::invalidArgument(
        "LabelEncoder: expected one of {0}_tensor, {0}_strings, {0}_int64s and {0}_floats{1}", prefix,
        given == 0 ? "" : fmt::format(", got {}", given));
  if (!strings.empty()) return tensorOf(strings);
  if (!integers.empty()) return tensorOf(integers);
  if (!floats.empty()) return Tensor::fromValues<float>({DType::Float32, countOf(floats)}, floats);
  OPKIT_ASSIGN(Tensor tensor, node.tensorAttribute(prefix + "_tensor"));
  tensor.desc.shape = {tensor.desc.elements()};
  return tensor;
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

/// Whether key `a` stands before key `b`, with NaN behind all numbers.
bool isBefore(const OracleTensor& keys, size_t a, size_t b) {
  if (!keys.isReal()) return keys.integer[a] < keys.integer[b];
  return std::isnan(keys.real[b]) ? !std::isnan(keys.real[a]) : keys.real[a] < keys.real[b];
}

/// The places of the keys in rising order. Of equal keys only the last one stays.
std::vector<size_t> orderOf(const OracleTensor& keys) {
  std::vector<size_t> order(static_cast<size_t>(keys.elements())), kept;
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, [&](size_t a, size_t b) { return isBefore(keys, a, b); });
  for (size_t i = 0; i < order.size(); ++i)
    if (i + 1 == order.size() || isBefore(keys, order[i], order[i + 1])) kept.push_back(order[i]);
  return kept;
}

/// The elements of `list` at the places; `other` where a place is the length of the list.
Result<Tensor> taken(const Tensor& list, const Tensor& other, const std::vector<size_t>& places) {
  const auto length = static_cast<size_t>(list.desc.elements());
  if (isStrings(list)) {
    Strings strings;
    for (const size_t place : places) strings.push_back(place < length ? stringsOf(list)[place] : stringsOf(other)[0]);
    return tensorOf(strings);
  }
  const OracleTensor from = OracleTensor::fromTensor(list), instead = OracleTensor::fromTensor(other);
  OracleTensor to({from.desc.dtype, countOf(places)});
  for (size_t i = 0; i < places.size(); ++i)
    copyElement(places[i] < length ? from : instead, places[i] < length ? places[i] : 0, to, i);
  OPKIT_ASSIGN(Tensor tensor, Tensor::onHost(to.desc));
  to.toTensor(tensor);
  return tensor;
}

/// Keys that are strings: a table of the values by the number of the key, with `other` behind it.
Status encodeStrings(OnnxNode& node, const Strings& keys, const Tensor& values, const Tensor& other) {
  const text::KnownStrings known = text::emitKnownStrings(node, 0, keys);
  std::vector<size_t> places(static_cast<size_t>(known.count) + 1, keys.size());
  for (size_t i = 0; i < keys.size(); ++i) places[static_cast<size_t>(known.words[i])] = i;
  OPKIT_ASSIGN(Tensor table, taken(values, other, places));
  const bool areStrings = isStrings(table);
  const TensorId constant = node.addConstant("table", std::move(table));
  if (areStrings) return node.emit("DecodeStrings", {known.places, constant});
  return node.emit("Gather", {constant, known.places}, packParams(gather::GatherParamsT{}));
}

/// Keys that are numbers. Values that are strings are looked up by their places.
Status encodeNumbers(OnnxNode& node, const Tensor& keys, const Tensor& values, const Tensor& other) {
  OPKIT_TRY(text::requireNumbers(node, 0, "its list of keys"));
  const std::vector<size_t> order = orderOf(OracleTensor::fromTensor(keys));
  OPKIT_ASSIGN(Tensor sorted, taken(keys, keys, order));
  OPKIT_ASSIGN(Tensor row, taken(values, other, order));
  const auto encoder = [&](Tensor value, Tensor unknown) {
    return std::vector{node.input(0), node.addConstant("keys", std::move(sorted)),
                       node.addConstant("values", std::move(value)), node.addConstant("other", std::move(unknown))};
  };
  if (!isStrings(row)) return node.emit("LabelEncoder", encoder(std::move(row), other));
  Strings dictionary = stringsOf(row);
  dictionary.push_back(stringsOf(other)[0]);
  std::vector<int64_t> places(order.size());
  std::iota(places.begin(), places.end(), int64_t{0});
  OPKIT_ASSIGN(Tensor placeRow, tensorOf(places));
  OPKIT_ASSIGN(Tensor otherPlace, tensorOf(std::vector{std::ssize(places)}));
  const TensorId place = node.emitIntermediate("LabelEncoder", encoder(std::move(placeRow), std::move(otherPlace)));
  return node.emit("DecodeStrings", {place, node.addConstant("dictionary", tensorOf(dictionary))});
}

Status encode(OnnxNode& node, const Tensor& keys, const Tensor& values) {
  OPKIT_ASSIGN(const Tensor other, otherOf(node, values.desc.dtype));
  return isStrings(keys) ? encodeStrings(node, stringsOf(keys), values, other)
                         : encodeNumbers(node, keys, values, other);
}

Status rule(OnnxNode& node) {
  OPKIT_ASSIGN(const Tensor keys, listOf(node, "keys"));
  OPKIT_ASSIGN(const Tensor values, listOf(node, "values"));
  if (keys.desc.elements() != values.desc.elements())
    return Status::invalidArgument("LabelEncoder: {} keys must have as many values, got {}", keys.desc.elements(),
                                   values.desc.elements());
  return encode(node, keys, values);
}

/// The lists are constants behind x; version 4 has them as tensors.
Status write(const OpNode& node, OnnxForm& form) {
  if (form.opset < 4) return Status::unsupported("before version 4 LabelEncoder has no lists of every type");
  constexpr const char* kNames[] = {"", "keys_tensor", "values_tensor", "default_tensor"};
  for (size_t i = 1; i < 4; ++i) {
    const Tensor* list = valueOf(node, i);
    if (!list) return Status::unsupported("LabelEncoder of ONNX has {} as an attribute", kNames[i]);
    form.attributes[kNames[i]] = *list;
  }
  form.inputs.resize(1);
  return Status::ok();
}

/// Strings become integers, and integers strings: the input's type decides.
Status encodeEither(OnnxNode& node, const Strings& strings, const std::vector<int64_t>& integers) {
  const Tensor words = tensorOf(strings);
  OPKIT_ASSIGN(const Tensor numbers, tensorOf(integers));
  return node.isObject(0) ? encode(node, words, numbers) : encode(node, numbers, words);
}

Status firstVersion(OnnxNode& node) {
  const Strings classes = node.stringsAttribute("classes_strings");
  if (classes.empty()) return Status::invalidArgument("LabelEncoder: expected strings in classes_strings");
  std::vector<int64_t> places(classes.size());
  std::iota(places.begin(), places.end(), int64_t{0});
  return encodeEither(node, classes, places);
}

Status categoryMapper(OnnxNode& node) {
  const Strings strings = node.stringsAttribute("cats_strings");
  const std::vector<int64_t> integers = node.intsAttribute("cats_int64s");
  if (strings.empty() || strings.size() != integers.size())
    return Status::invalidArgument(
        "CategoryMapper: cats_strings and cats_int64s must have as many values, got {} and {}", strings.size(),
        integers.size());
  return encodeEither(node, strings, integers);
}

}  // namespace

void addOnnx(OnnxRules& rules) {
  rules.add("ai.onnx.ml::CategoryMapper", {"cats_int64s", "cats_strings", "default_int64", "default_string"},
            categoryMapper);
  rules.note("ai.onnx.ml::CategoryMapper", {"LabelEncoder", "Gather"});
  rules.add("ai.onnx.ml::LabelEncoder", {"classes_strings", "default_int64", "default_string"}, firstVersion, 1, 1);
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
            {rule, {{"LabelEncoder"}, write}}, 2);
  rules.note("ai.onnx.ml::LabelEncoder", {"LabelEncoder"});
}

}  // namespace opkit::ops::label_encoder
