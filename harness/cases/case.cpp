#include "harness/cases/case.h"
#include "engine/base/json_text.h"

#include <array>
#include <charconv>
#include <nlohmann/json.hpp>

namespace opkit::harness {
namespace {

using Json = nlohmann::json;

constexpr std::array<const char*, 5> kLaneNames = {"normal", "exact", "designed", "specials", "edges"};

/// Length of the JSON object or array at the start of `text`, or 0 when it does not end.
size_t jsonLength(std::string_view text) {
  int depth = 0;
  bool inString = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (inString) {
      if (c == '\\') ++i;
      if (c == '"') inString = false;
    } else if (c == '"') {
      inString = true;
    } else if (c == '{' || c == '[') {
      ++depth;
    } else if (c == '}' || c == ']') {
      if (--depth == 0) return i + 1;
    }
  }
  return 0;
}

template <class Number>
bool parseNumber(std::string_view text, Number& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts(1);
  for (const char c : text) {
    if (c == separator)
      parts.emplace_back();
    else
      parts.back() += c;
  }
  return parts;
}

Status parseData(const std::string& text, Case& result) {
  OPKIT_TRY(checkJsonDepth(text));
  const Json list = parseJson(text);
  if (!list.is_array())
    return Status::invalidArgument("data must be a list such as [null,{{\"value\":1}}], got {}", text);
  for (const Json& form : list) {
    result.data.push_back(form.is_null() ? "" : form.dump());
    if (!form.is_null()) OPKIT_TRY(checkDataForm(result.data.back()));
  }
  return Status::ok();
}

Status parseOption(const std::string& part, Case& result) {
  const size_t equals = part.find('=');
  const std::string key = part.substr(0, equals);
  const std::string value = equals == std::string::npos ? "" : part.substr(equals + 1);
  if (key == "seed" && parseNumber(value, result.seed)) return Status::ok();
  if (key == "outputs" && parseNumber(value, result.outputs)) return Status::ok();
  if (key == "constant") {
    for (const std::string& item : split(value, ',')) {
      size_t index = 0;
      if (!parseNumber(item, index) || index >= result.inputs.size() || !result.inputs[index])
        return Status::invalidArgument("constant= must list indices of given inputs, got '{}'", value);
      result.constants.push_back(index);
    }
    return Status::ok();
  }
  return Status::invalidArgument("expected seed=N, constant=I,J, outputs=N or data=[..], got '{}'", part);
}

/// "/f32[2,3]/normal/seed=7/..." after the operator and its parameters.
Status parseParts(std::string rest, Case& result) {
  std::string data;
  if (const size_t at = rest.find("/data="); at != std::string::npos) {
    data = rest.substr(at + 6);
    rest.resize(at);
  }
  const std::vector<std::string> parts = split(rest.empty() ? rest : rest.substr(1), '/');
  if (parts.size() < 2)
    return Status::invalidArgument("expected OP{{params}}/inputs/lane/seed=N, found only '{}' after the operator",
                                   rest);
  OPKIT_ASSIGN(result.inputs, parseInputList(parts[0]));
  const std::optional<Lane> lane = laneFromName(parts[1]);
  if (!lane) return Status::invalidArgument("lane must be normal, exact, designed or specials, got '{}'", parts[1]);
  result.lane = *lane;
  for (size_t i = 2; i < parts.size(); ++i) OPKIT_TRY(parseOption(parts[i], result));
  return data.empty() ? Status::ok() : parseData(data, result);
}

Result<Case> parseId(const std::string& id) {
  Case result;
  const size_t end = id.find_first_of("{/");
  if (end == 0 || end == std::string::npos) return Status::invalidArgument("expected OP{{params}}/inputs/lane/seed=N");
  result.op = id.substr(0, end);
  std::string rest = id.substr(end);
  if (rest[0] == '{') {
    const size_t length = jsonLength(rest);
    OPKIT_TRY(checkJsonDepth(rest.substr(0, length)));
    const Json params = parseJson(rest.substr(0, length));
    if (!params.is_object())
      return Status::invalidArgument("the parameters after '{}' are not a JSON object", result.op);
    result.params = params.dump();
    rest = rest.substr(length);
  }
  OPKIT_TRY(parseParts(rest, result));
  return result;
}

}  // namespace

const char* nameOf(Lane lane) { return kLaneNames[static_cast<size_t>(lane)]; }

std::optional<Lane> laneFromName(std::string_view name) {
  for (size_t i = 0; i < kLaneNames.size(); ++i)
    if (name == kLaneNames[i]) return static_cast<Lane>(i);
  return std::nullopt;
}

std::string Case::inputText() const {
  std::string text;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (i > 0) text += ',';
    text += inputs[i] ? inputs[i]->toString() : "-";
  }
  return text;
}

bool Case::isConstant(size_t input) const {
  return std::find(constants.begin(), constants.end(), input) != constants.end();
}

std::string Case::id() const {
  std::string text = op + (params == "{}" ? "" : params);
  text += fmt::format("/{}/{}/seed={}", inputText(), nameOf(lane), seed);
  if (!constants.empty()) text += fmt::format("/constant={}", fmt::join(constants, ","));
  if (outputs != 0) text += fmt::format("/outputs={}", outputs);
  const bool plain = std::all_of(data.begin(), data.end(), [](const std::string& form) { return form.empty(); });
  if (plain) return text;
  std::vector<std::string> forms;
  for (const std::string& form : data) forms.push_back(form.empty() ? "null" : form);
  return text + fmt::format("/data=[{}]", fmt::join(forms, ","));
}

Result<Case> parseCaseId(const std::string& id) {
  auto result = parseId(id);
  if (!result) return result.error().withContext("case '" + id + "'");
  return result;
}

Result<std::vector<std::optional<TensorDesc>>> parseInputList(const std::string& text) {
  std::vector<std::optional<TensorDesc>> list;
  if (text.empty()) return list;
  std::vector<std::string> items(1);
  int depth = 0;
  for (const char c : text) {
    depth += c == '[' ? 1 : c == ']' ? -1 : 0;
    if (c == ',' && depth == 0)
      items.emplace_back();
    else
      items.back() += c;
  }
  for (const std::string& item : items) {
    if (item == "-") {
      list.emplace_back(std::nullopt);
      continue;
    }
    OPKIT_ASSIGN(TensorDesc desc, parseTensorDesc(item));
    OPKIT_TRY(checkShape(desc.shape).withContext(item));
    list.emplace_back(std::move(desc));
  }
  return list;
}

Status checkDataForm(const std::string& json) {
  const Json form = parseJson(json);
  const auto isValue = [](const Json& v) {
    return v.is_number() || v.is_boolean() || v == "inf" || v == "-inf" || v == "nan" || v == "-nan";
  };
  const auto fails = [&] {
    return Status::invalidArgument(
        "data must be {{\"range\":[lo,hi]}}, {{\"values\":[..]}}, {{\"value\":v}} or {{\"pattern\":name}}, got {}",
        json);
  };
  if (!form.is_object() || form.size() != 1) return fails();
  const std::string key = form.begin().key();
  const Json& value = form.begin().value();
  if (key == "value") return isValue(value) ? Status::ok() : fails();
  if (key == "range") {
    const bool good = value.is_array() && value.size() == 2 && value[0].is_number() && value[1].is_number() &&
                      value[0].get<double>() <= value[1].get<double>();
    return good ? Status::ok() : fails();
  }
  if (key == "values") {
    const bool good = value.is_array() && std::all_of(value.begin(), value.end(), isValue);
    return good ? Status::ok() : fails();
  }
  if (key != "pattern") return fails();
  for (const char* name : {"negative", "spike", "alternating", "zeros", "rows", "ramp", "bits", "codes", "masked"})
    if (value == name) return Status::ok();
  return Status::invalidArgument(
      "pattern must be negative, spike, alternating, zeros, rows, ramp, bits, codes or masked, got {}", value.dump());
}

}  // namespace opkit::harness
