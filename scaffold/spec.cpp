#include "scaffold/spec.h"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cmath>
#include <regex>

#include "scaffold/names.h"

namespace opkit::scaffold {
namespace {

constexpr const char* kTypes[] = {"bool", "int", "float", "string", "ints", "floats"};

bool isNumber(const std::string& text, bool whole) {
  if (text.empty()) return false;
  char* end = nullptr;
  errno = 0;
  if (whole)
    static_cast<void>(std::strtoll(text.c_str(), &end, 10));
  else if (!std::isfinite(std::strtof(text.c_str(), &end)) || text.find_first_not_of("+-.0123456789eE") != text.npos)
    return false;
  return *end == '\0' && errno == 0;
}

Status checkInitial(const Attribute& attribute) {
  const std::string &type = attribute.type, &initial = attribute.initial;
  if (initial.empty()) return Status::ok();
  if (type == "ints" || type == "floats")
    return Status::invalidArgument("--attr {}: a default is for bool, int, float and string, got '{}' for {}",
                                   attribute.name, initial, type);
  const bool fits = type == "bool"    ? initial == "true" || initial == "false"
                    : type == "int"   ? isNumber(initial, true)
                    : type == "float" ? isNumber(initial, false)
                                      : initial.find_first_of("\"\\\n") == std::string::npos;
  if (fits) return Status::ok();
  return Status::invalidArgument("--attr {}: expected a default of type {}, got '{}'", attribute.name, type, initial);
}

/// "nearest|linear" as choices, of which the first is the default.
Status splitChoices(Attribute& attribute) {
  static const std::regex word("[A-Za-z][A-Za-z0-9]*([_-][A-Za-z0-9]+)*");
  std::vector<std::string> enumerators;
  for (const std::string& choice : splitAt(attribute.initial, '|')) {
    if (choice.size() > kLongestName || !std::regex_match(choice, word))
      return Status::invalidArgument("--attr {}: a choice is a word such as half_pixel, got '{}' in '{}'",
                                     attribute.name, choice, attribute.initial);
    enumerators.push_back(choiceName(choice));
    if (std::count(enumerators.begin(), enumerators.end(), enumerators.back()) > 1)
      return Status::invalidArgument("--attr {}: the choices must differ by more than case and '_', got '{}'",
                                     attribute.name, attribute.initial);
    attribute.choices.push_back(choice);
  }
  attribute.initial = attribute.choices.front();
  return Status::ok();
}

/// The types of an input: a set, a variable with or without its set, or `=` and what has the same type.
void readTypes(const std::string& types, PortSpec& port) {
  const bool named = !types.empty() && std::isupper(static_cast<unsigned char>(types[0])) != 0;
  if (types.starts_with('='))
    port.same = types.substr(1);
  else if (named && (types.size() == 1 || types[1] == '='))
    port.variable = types.substr(0, 1), port.dtypes = types.substr(std::min<size_t>(types.size(), 2));
  else
    port.dtypes = types;
}

}  // namespace

bool Spec::has(const std::string& backend) const {
  return std::find(backends.begin(), backends.end(), backend) != backends.end();
}

Result<Attribute> parseAttribute(const std::string& text) {
  const size_t colon = text.find(':');
  const size_t equals = text.find('=');
  if (colon == std::string::npos || colon == 0 || equals < colon)
    return Status::invalidArgument("--attr expects NAME:TYPE=DEFAULT, such as alpha:float=0.5, got '{}'", text);
  Attribute attribute{text.substr(0, colon), text.substr(colon + 1, equals - colon - 1),
                      equals == std::string::npos ? "" : text.substr(equals + 1)};
  if (std::find(std::begin(kTypes), std::end(kTypes), attribute.type) == std::end(kTypes))
    return Status::invalidArgument("--attr {}: expected a type of {}, got '{}'", attribute.name,
                                   fmt::join(kTypes, ", "), attribute.type);
  if (attribute.type == "string" && attribute.initial.find('|') != std::string::npos)
    OPKIT_TRY(splitChoices(attribute));
  OPKIT_TRY(checkInitial(attribute));
  return attribute;
}

Result<PortSpec> parsePort(const std::string& text) {
  std::vector<std::string> fields = splitAt(text, ':');
  PortSpec port;
  const auto dropMark = [&] {
    if (!fields.back().ends_with('?')) return;
    fields.back().pop_back();
    port.optional = true;
  };
  dropMark();
  if (fields.size() > 1 && fields.back() == "contents") {
    port.contents = true;
    fields.pop_back();
    dropMark();
  }
  port.name = fields[0];
  if (fields.size() > 1) readTypes(fields[1], port);
  const bool bare = port.dtypes.empty() && port.variable.empty() && port.same.empty();
  if (port.name.empty() || fields.size() > 2 || (fields.size() == 2 && bare) || text.ends_with("="))
    return Status::invalidArgument(
        "an input is NAME[:TYPES][?][:contents], such as x:f32|f16, scale:=x, bias:=x? or axes:i64:contents, got '{}'",
        text);
  return port;
}

Result<PortSpec> parseOutput(const std::string& text) {
  const size_t colon = text.find_first_of(":?");
  if (colon != std::string::npos)
    return Status::invalidArgument("--output {}: outputs have the type of the first input, leave '{}' away",
                                   text.substr(0, colon), text.substr(colon + (text[colon] == ':' ? 1 : 0)));
  if (text.empty()) return Status::invalidArgument("an output is a NAME, got ''");
  return PortSpec{text, ""};
}

}  // namespace opkit::scaffold
