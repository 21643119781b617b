#include "harness/cases/stored_values.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "engine/base/json_text.h"
#include "harness/cases/data.h"
#include "harness/compare/expected.h"

namespace opkit::harness {
namespace {

using Json = nlohmann::json;

bool isLiteral(const Json& form) { return form.contains("values") || form.contains("value"); }

bool fits(DType dtype, const Json& value) {
  if (dtype == DType::Bool) return value.is_boolean() || value == 0 || value == 1;
  return isFloat(dtype) ? !value.is_boolean() : value.is_number_integer();
}

Status checkForm(const TensorDesc& desc, const Json& form) {
  if (isObject(desc.dtype)) return Status::invalidArgument("{} cannot be stored, only numbers can", desc.toString());
  const Json values = form.contains("values") ? form["values"] : Json::array({form["value"]});
  if (form.contains("values") && static_cast<int64_t>(values.size()) != desc.elements())
    return Status::invalidArgument("{} value{}, {} has {} elements", values.size(), values.size() == 1 ? "" : "s",
                                   desc.toString(), desc.elements());
  for (const Json& value : values)
    if (!fits(desc.dtype, value))
      return Status::invalidArgument("{} is no value of {}", value.dump(), opkit::nameOf(desc.dtype));
  return Status::ok();
}

/// Integers that the dtype does not hold would wrap.
Status checkRange(const OracleTensor& output) {
  OPKIT_ASSIGN(const Tensor narrow, Tensor::onHost(output.desc));
  output.toTensor(narrow);
  const OracleTensor back = OracleTensor::fromTensor(narrow);
  for (size_t i = 0; i < output.integer.size(); ++i)
    if (back.integer[i] != output.integer[i])
      return Status::invalidArgument("{} is no value of {}", output.integer[i], opkit::nameOf(output.desc.dtype));
  return Status::ok();
}

Status take(const std::string& text, OracleTensor& output) {
  const Json form = parseJson(text);
  OPKIT_TRY(checkForm(output.desc, form));
  OPKIT_ASSIGN(const Tensor tensor, Tensor::onHost({output.isReal() ? DType::Float64 : DType::Int64, output.shape()}));
  fillValues(tensor, text);
  OracleTensor wide = OracleTensor::fromTensor(tensor);
  output.real = std::move(wide.real);
  output.integer = std::move(wide.integer);
  return output.isReal() ? Status::ok() : checkRange(output);
}

}  // namespace

Status checkStoredForm(const std::string& json) {
  if (checkDataForm(json).isOk() && isLiteral(parseJson(json))) return Status::ok();
  return Status::invalidArgument(R"("expected" must be a list of {{"values":[..]}}, {{"value":v}} or null, got {})",
                                 json);
}

Status checkStored(const Case& c, const OpDef& def) {
  if (c.expected.empty()) return Status::ok();
  for (size_t i = 0; i < c.inputs.size(); ++i)
    if (c.inputs[i] && (i >= c.data.size() || c.data[i].empty() || !isLiteral(parseJson(c.data[i]))))
      return Status::invalidArgument(
          R"("expected" needs the values of input {} in "data", as {{"values":[..]}} or {{"value":v}})", i);
  OPKIT_ASSIGN(const ParamBytes params, paramsFromJson(def.params, c.params));
  OPKIT_ASSIGN(const auto inputs, makeInputs(c, def));
  OPKIT_ASSIGN(auto outputs, zeroOutputs(def, params, inputs, c.outputs));
  return storedValues(c, std::move(outputs)).error();
}

Result<std::vector<OracleTensor>> storedValues(const Case& c, std::vector<OracleTensor> outputs) {
  const size_t given = c.expected.size(), count = outputs.size();
  if (given > count)
    return Status::invalidArgument(R"("expected" has values for output {}, the case has {} output{})", count, count,
                                   count == 1 ? "" : "s");
  if (given < count)
    return Status::invalidArgument(R"("expected" has {} form{} for {} outputs; null leaves one out)", given,
                                   given == 1 ? "" : "s", count);
  for (size_t i = 0; i < given; ++i)
    if (!c.expected[i].empty())
      OPKIT_TRY(take(c.expected[i], outputs[i]).withContext(fmt::format("\"expected\"[{}]", i)));
  return outputs;
}

}  // namespace opkit::harness
