#include "harness/oracle/script_oracle.h"

#include <flatbuffers/idl.h>

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>

#include "engine/base/json_text.h"

namespace opkit::harness {
namespace {

using Json = nlohmann::json;

/// Python's names for what FlatBuffers prints as inf and nan.
std::string asPythonReads(const std::string& text) {
  std::string changed;
  bool quoted = false;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '"' && (i == 0 || text[i - 1] != '\\')) quoted = !quoted;
    const std::string_view rest = std::string_view(text).substr(i);
    const bool isInf = !quoted && rest.starts_with("inf"), isNan = !quoted && rest.starts_with("nan");
    if (isInf || isNan) i += 2;
    changed += isInf ? "Infinity" : isNan ? "NaN" : std::string(1, text[i]);
  }
  return changed;
}

/// The parameters as JSON, with the defaults of those that the case leaves out. Absent lists and texts stay absent.
Result<std::string> attributesOf(const OpDef& def, const Case& c) {
  if (!def.params.verify) return std::string("{}");
  flatbuffers::IDLOptions options;
  options.strict_json = true;
  options.output_default_scalars_in_json = true;
  flatbuffers::Parser parser(options);
  std::string text;
  if (!parser.Parse(std::string(def.params.text).c_str()) || !parser.Parse(c.params.c_str()) ||
      !flatbuffers::GenerateText(parser, parser.builder_.GetBufferPointer(), &text))
    return Status::internal("parameters {}: {}", c.params, parser.error_);
  return asPythonReads(text);
}

Status checkHasNumbers(const TensorDesc& desc, const std::string& name) {
  if (!isObject(desc.dtype)) return Status::ok();
  return Status::unsupported("not judged by the script: {} is {}, and scripts get numbers alone", name,
                             desc.toString());
}

template <class T>
void append(const std::vector<T>& elements, std::vector<uint8_t>& payload) {
  const auto* const bytes = reinterpret_cast<const uint8_t*>(elements.data());
  payload.insert(payload.end(), bytes, bytes + elements.size() * sizeof(T));
}

const char* numpyTypeOf(DType dtype) {
  if (isFloat(dtype)) return "<f8";
  return dtype == DType::UInt64 ? "<u8" : "<i8";
}

/// Bool elements are one byte in NumPy.
void addInput(const Tensor& tensor, Json& descriptions, std::vector<uint8_t>& payload) {
  const OracleTensor wide = OracleTensor::fromTensor(tensor);
  const bool isBool = tensor.desc.dtype == DType::Bool;
  descriptions.push_back({{"dtype", isBool ? "?" : numpyTypeOf(tensor.desc.dtype)}, {"shape", tensor.desc.shape}});
  if (isBool)
    append(std::vector<uint8_t>(wide.integer.begin(), wide.integer.end()), payload);
  else if (wide.isReal())
    append(wide.real, payload);
  else
    append(wide.integer, payload);
}

Json caseFacts(const Case& c, const std::vector<OracleTensor>& outputs) {
  Json inputTypes = Json::array(), results = Json::array();
  for (const auto& input : c.inputs) inputTypes.push_back(input ? Json(opkit::nameOf(input->dtype)) : Json());
  for (const OracleTensor& output : outputs)
    results.push_back({{"dtype", opkit::nameOf(output.desc.dtype)}, {"shape", output.desc.shape}});
  return {{"id", c.id()}, {"op", c.op}, {"dtypes", inputTypes}, {"outputs", results}};
}

Result<ScriptMessage> questionOf(const Case& c, const OpDef& def, const HostInputs& inputs,
                                 const std::vector<OracleTensor>& outputs) {
  for (size_t i = 0; i < outputs.size(); ++i) OPKIT_TRY(checkHasNumbers(outputs[i].desc, fmt::format("output {}", i)));
  OPKIT_ASSIGN(const std::string attributes, attributesOf(def, c));
  ScriptMessage question;
  Json descriptions = Json::array();
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i]) {
      descriptions.push_back(nullptr);
      continue;
    }
    OPKIT_TRY(checkHasNumbers(inputs[i]->desc, fmt::format("input {}", i)));
    addInput(*inputs[i], descriptions, question.payload);
  }
  const Json facts = caseFacts(c, outputs);
  question.header = fmt::format(R"({{"inputs": {}, "attributes": {}, "case": {}}})", descriptions.dump(), attributes,
                                facts.dump(-1, ' ', false, Json::error_handler_t::replace));
  return question;
}

/// How a script writes a type that the output may have.
std::string wantedType(DType dtype) { return isFloat(dtype) ? "float64" : dtype == DType::Bool ? "bool" : "integers"; }

Status checkDescription(const Json& got, const OracleTensor& want, size_t index) {
  const std::string type = textField(got, "dtype"), wanted = wantedType(want.desc.dtype);
  const bool isInteger = type.starts_with("int") || type.starts_with("uint");
  if (wanted == "integers" ? !isInteger : type != wanted)
    return Status::internal("output {} of the script is {}, expected {} for {}", index, type, wanted,
                            opkit::nameOf(want.desc.dtype));
  const Json extents = got.is_object() ? got.value("shape", Json::array()) : Json::array();
  const auto isExtent = [](const Json& extent) { return extent.is_number_integer(); };
  if (!extents.is_array() || !std::ranges::all_of(extents, isExtent))
    return Status::internal("output {} of the script has no shape", index);
  const Shape shape = extents.get<Shape>();
  if (shape != want.shape())
    return Status::internal("output {} of the script has the shape {}, expected {}", index, opkit::toString(shape),
                            opkit::toString(want.shape()));
  return Status::ok();
}

/// Takes the elements of one output from `at` on.
template <class T>
void take(const std::vector<uint8_t>& payload, size_t& at, std::vector<T>& elements) {
  const size_t bytes = elements.size() * sizeof(T);
  if (bytes > 0) std::memcpy(elements.data(), payload.data() + at, bytes);
  at += bytes;
}

Result<std::vector<OracleTensor>> outputsOf(const ScriptMessage& answer, std::vector<OracleTensor> outputs) {
  const Json header = parseJson(answer.header);
  if (header.contains("error")) return Status::internal("{}", textField(header, "error"));
  const Json list = header.is_object() ? header.value("outputs", Json::array()) : Json::array();
  if (list.size() != outputs.size())
    return Status::internal("the script returned {} array{}, expected {}", list.size(), list.size() == 1 ? "" : "s",
                            outputs.size());
  for (size_t i = 0; i < outputs.size(); ++i) OPKIT_TRY(checkDescription(list[i], outputs[i], i));
  size_t at = 0;
  for (OracleTensor& output : outputs)
    if (output.isReal())
      take(answer.payload, at, output.real);
    else
      take(answer.payload, at, output.integer);
  return outputs;
}

}  // namespace

Result<ScriptOracle> ScriptOracle::start(const ScriptOptions& options) {
  OPKIT_ASSIGN(ScriptProcess process, ScriptProcess::start(options.path));
  return ScriptOracle(options, std::move(process));
}

Result<std::vector<OracleTensor>> ScriptOracle::values(const Case& c, const OpDef& def, const HostInputs& inputs,
                                                       std::vector<OracleTensor> outputs) {
  OPKIT_ASSIGN(const ScriptMessage question, questionOf(c, def, inputs, outputs));
  if (!process_) {
    OPKIT_ASSIGN(ScriptProcess process, ScriptProcess::start(options_.path));
    process_.emplace(std::move(process));
  }
  const Result<ScriptMessage> answer = process_->ask(question, options_.seconds);
  if (!process_->isRunning()) process_.reset();
  OPKIT_TRY(answer.error());
  return outputsOf(*answer, std::move(outputs));
}

}  // namespace opkit::harness
