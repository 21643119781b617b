#include "harness/cases/case_text.h"

#include <nlohmann/json.hpp>
#include <sstream>

#include "engine/base/json_text.h"

namespace opkit::harness {
namespace {

constexpr const char* kCases = "\"cases\": [";

/// Where entries were taken out or put before none, a comma is left before the end of the list.
std::string withoutLastComma(const std::string& text) {
  std::string result;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const size_t first = line.find_first_not_of(' ');
    if (first != std::string::npos && line[first] == ']' && result.ends_with(",\n")) result.erase(result.size() - 2, 1);
    result += line + '\n';
  }
  return result;
}

}  // namespace

std::string spaced(const nlohmann::ordered_json& value) {
  std::string result;
  bool inString = false;
  const std::string plain = value.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  for (size_t i = 0; i < plain.size(); ++i) {
    result += plain[i];
    if (plain[i] == '\\')
      result += plain[++i];
    else if (plain[i] == '"')
      inString = !inString;
    else if (!inString && (plain[i] == ',' || plain[i] == ':'))
      result += ' ';
  }
  return result;
}

Result<std::string> withCases(const std::string& text, const std::string& block) {
  const size_t at = text.find(kCases);
  if (at == std::string::npos || text.find('\n', at) != at + std::string(kCases).size())
    return Status::invalidArgument("expected '{}' alone on a line to put a case below", kCases);
  std::string result = text;
  return withoutLastComma(result.insert(text.find('\n', at) + 1, block));
}

std::string withoutCases(const std::string& text, const std::function<bool(const nlohmann::json& entry)>& isOld) {
  std::string result;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const auto entry = parseJson(line.substr(0, line.find_last_of('}') + 1));
    if (!entry.is_object() || !isOld(entry)) result += line + '\n';
  }
  return withoutLastComma(result);
}

}  // namespace opkit::harness
