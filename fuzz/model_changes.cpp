#include "fuzz/model_changes.h"

#include <flatbuffers/idl.h>
#include <gtest/gtest.h>

#include <map>
#include <regex>
#include <set>

#include "engine/base/json_text.h"
#include "engine/import/onnx/onnx_dtype.h"
#include "engine/op/op_registry.h"
#include "engine/tensor/objects.h"
#include "ops/builtin_ops.h"

namespace opkit::fuzz {
namespace {

using namespace harness;

using nlohmann::json;
using Values = std::map<std::string, json>;

/// All fields of the parameters: numbers also at their defaults, lists and strings if they are not empty.
json fieldsOf(const ModelNode& node) {
  const OpDef* def = ops::builtinOps().find(node.type);
  if (!def || !def->params.verify) return json::object();
  flatbuffers::IDLOptions options;
  options.strict_json = true;
  options.output_default_scalars_in_json = true;
  flatbuffers::Parser parser(options);
  std::string text;
  const bool isRead =
      parser.Parse(std::string(def->params.text).c_str()) && (!node.params.empty() || parser.Parse("{}"));
  const uint8_t* bytes = node.params.empty() ? parser.builder_.GetBufferPointer() : node.params.data();
  EXPECT_TRUE(isRead && flatbuffers::GenerateText(parser, bytes, &text)) << node.type << ": " << parser.error_;
  static const std::regex kNoNumber("(: )([-+]?(inf|nan))");  // defaults that JSON does not have
  return parseJson(std::regex_replace(text, kNoNumber, "$1\"$2\""));
}

template <class T>
json listOf(const Tensor& tensor) {
  const auto elements = tensor.data<const T>();
  return std::vector<T>(elements.begin(), elements.end());
}

/// The elements of a tensor, null for types that no rule makes.
json elementsOf(const Tensor& tensor) {
  switch (tensor.desc.dtype) {
    case DType::Float32: return listOf<float>(tensor);
    case DType::Float64: return listOf<double>(tensor);
    case DType::Int64: return listOf<int64_t>(tensor);
    case DType::Int32: return listOf<int32_t>(tensor);
    case DType::UInt8: return listOf<uint8_t>(tensor);
    case DType::String: return stringsOf(tensor);
    default: return nullptr;
  }
}

Values constantsOf(const Model& model) {
  Values constants;
  for (const ModelTensor& tensor : model.tensors)
    if (tensor.constant) constants[tensor.name.substr(tensor.name.rfind('/') + 1)] = elementsOf(*tensor.constant);
  return constants;
}

void addChanges(Values before, Values after, std::vector<std::pair<std::string, json>>& changes) {
  for (const auto& [name, value] : before) after.try_emplace(name);
  for (const auto& [name, value] : after)
    if (before[name] != value) changes.emplace_back(name, value);
}

json jsonOf(const std::string& type, const std::string& value) {
  if (type == "int") return std::stoll(value);
  if (type == "float") return std::stof(value);
  if (type == "string") return value;
  const bool isTensor = type == "tensor" || type == "sparse";
  const std::string list = isTensor ? value.substr(value.find(':') + 1) : value;
  const std::string kind = isTensor ? value.substr(0, value.find(':')) : type;
  json elements = json::array();
  for (const std::string& element : splitAt(',', list))
    elements.push_back(jsonOf(kind.starts_with("float")    ? "float"
                              : kind.starts_with("string") ? "string"
                                                           : "int",
                              element));
  return elements;
}

bool isSame(const json& found, const json& given) {
  if (found.is_array() && given.is_array())
    return std::equal(found.begin(), found.end(), given.begin(), given.end(), isSame);
  if (found.is_array()) return found.size() == 1 && isSame(found[0], given);
  if (given.is_array()) return given.size() == 1 ? isSame(found, given[0]) : found.is_null() && given.empty();
  if (found.is_boolean()) return given.is_number() && found.get<bool>() == (given != 0);
  if (found.is_string() && given.is_string()) return plainName(found) == plainName(given);
  if (found.is_null()) return given.is_string() && given.get<std::string>().empty();
  if (found.is_number_float() && given.is_number()) return found.get<float>() == given.get<float>();
  return found == given;
}

/// Integer attributes that number element types as ONNX does.
bool isNumberedType(const AttributeFact& attribute) {
  const std::set<std::string> names{"dtype", "output_datatype", "output_dtype", "precision", "to"};
  return attribute.type == "int" && names.contains(attribute.name);
}

}  // namespace

std::vector<std::pair<std::string, json>> changedValues(const Model& before, const Model& after) {
  std::vector<std::pair<std::string, json>> changes;
  const auto isOfOneType = [](const ModelNode& a, const ModelNode& b) { return a.type == b.type; };
  if (!std::ranges::equal(before.nodes, after.nodes, isOfOneType)) return changes;
  for (const NodeId n : before.nodes.ids())
    if (before.nodes[n].params != after.nodes[n].params)
      addChanges(fieldsOf(before.nodes[n]), fieldsOf(after.nodes[n]), changes);
  addChanges(constantsOf(before), constantsOf(after), changes);
  return changes;
}

bool holdsValue(const json& found, const AttributeFact& attribute, const std::string& value) {
  if (!isNumberedType(attribute)) return isSame(found, jsonOf(attribute.type, value));
  const Result<DType> dtype = dtypeFromOnnx(std::stoll(value));
  return dtype && (found == static_cast<int>(*dtype) || found == nameOf(*dtype));
}

std::string plainName(const std::string& name) {
  std::string letters;
  for (const char c : name)
    if (std::isalnum(static_cast<unsigned char>(c)))
      letters += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return letters;
}

}  // namespace opkit::fuzz
