#include "engine/backend/vulkan/shader_build/variants.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <set>
#include <sstream>

#include "engine/tensor/dtype.h"

namespace opkit::shader_build {
namespace {

constexpr std::string_view kMarker = "//! variant ";

bool isIdentifierTail(const std::string& text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; });
}

bool isDecimal(const std::string& text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
}

std::string upper(std::string text) {
  for (char& c : text) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return text;
}

bool isElementName(const std::string& value) {
  return dtypeFromName(value).has_value() || value == "u32x2" || value == "u32x4" || value == "u64x2";
}

Result<Axis> parseAxis(const std::string& where, const std::string& text) {
  const size_t colon = text.find(':');
  if (colon == std::string::npos)
    return Status::invalidArgument("{}: error: expected '//! variant AXIS: value ...', got '{}'", where, text);
  Axis axis;
  std::istringstream(text.substr(0, colon)) >> axis.name;
  if (!isIdentifierTail(axis.name) || isDecimal(axis.name.substr(0, 1)))
    return Status::invalidArgument("{}: error: '{}' cannot name a variant axis", where, axis.name);
  std::istringstream values(text.substr(colon + 1));
  for (std::string value; values >> value;) {
    if (!isIdentifierTail(value))
      return Status::invalidArgument("{}: error: '{}' cannot name a variant: use letters, digits and _", where, value);
    if (std::find(axis.values.begin(), axis.values.end(), value) != axis.values.end())
      return Status::invalidArgument("{}: error: variant '{}' of {} is listed twice", where, value, axis.name);
    axis.values.push_back(value);
  }
  if (axis.values.empty()) return Status::invalidArgument("{}: error: variant axis {} has no values", where, axis.name);
  return axis;
}

}  // namespace

bool Axis::isDType() const {
  return std::all_of(values.begin(), values.end(), [](const auto& v) { return dtypeFromName(v).has_value(); });
}

bool Axis::isElement() const { return std::all_of(values.begin(), values.end(), isElementName); }

bool Axis::isWord() const {
  return std::all_of(values.begin(), values.end(), [](const auto& v) { return wordBytes(v) != 0; });
}

bool Axis::isNumber() const { return std::all_of(values.begin(), values.end(), isDecimal); }

Result<std::vector<Axis>> parseAxes(const std::string& path, const std::string& source) {
  std::vector<Axis> axes;
  std::set<std::string> names;
  std::istringstream lines(source);
  size_t number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    if (line.rfind("//!", 0) != 0) continue;
    const std::string where = fmt::format("{}:{}", path, number);
    if (line.rfind(kMarker, 0) != 0)
      return Status::invalidArgument("{}: error: expected '//! variant AXIS: value ...', got '{}'", where, line);
    OPKIT_ASSIGN(Axis axis, parseAxis(where, line.substr(kMarker.size())));
    if (!names.insert(axis.name).second)
      return Status::invalidArgument("{}: error: variant axis {} is declared twice", where, axis.name);
    axes.push_back(std::move(axis));
  }
  return axes;
}

std::vector<Choice> allChoices(const std::vector<Axis>& axes) {
  std::vector<Choice> choices{Choice(axes.size(), 0)};
  while (true) {
    Choice next = choices.back();
    size_t a = axes.size();
    while (a > 0 && ++next[a - 1] == axes[a - 1].values.size()) next[--a] = 0;
    if (a == 0) return choices;
    choices.push_back(std::move(next));
  }
}

Defines definesOf(const std::vector<Axis>& axes, const Choice& choice) {
  Defines defines;
  for (size_t a = 0; a < axes.size(); ++a) {
    const Axis& axis = axes[a];
    const std::string value = upper(axis.values[choice[a]]);
    defines.emplace_back(axis.name + "_" + value, "1");
    if (axis.isElement()) {
      for (const char* macro : {"TYPE", "ARITH", "LOAD", "STORE", "TYPE4", "ARITH4", "LOAD4", "STORE4"})
        defines.emplace_back(axis.name + "_" + macro, std::string(macro) + "_" + value);
    } else if (axis.isNumber()) {
      defines.emplace_back(axis.name, value);
    }
  }
  return defines;
}

std::string describe(const std::vector<Axis>& axes, const Choice& choice) {
  std::string text;
  for (size_t a = 0; a < axes.size(); ++a) text += (a == 0 ? "" : " ") + axes[a].name + "=" + axes[a].values[choice[a]];
  return text;
}

size_t wordBytes(const std::string& value) {
  static const std::map<std::string, size_t> kBytes{{"u8", 1},    {"u16", 2},    {"u32", 4},   {"u64", 8},
                                                    {"u32x2", 8}, {"u32x4", 16}, {"u64x2", 16}};
  const auto found = kBytes.find(value);
  return found == kBytes.end() ? 0 : found->second;
}

std::string upperCamel(const std::string& name) {
  const bool shouting = std::none_of(name.begin(), name.end(), [](unsigned char c) { return std::islower(c) != 0; });
  std::string result;
  bool start = true;
  for (const char c : name) {
    const auto u = static_cast<unsigned char>(c);
    if (c == '_') {
      start = true;
      continue;
    }
    result += static_cast<char>(start ? std::toupper(u) : shouting ? std::tolower(u) : c);
    start = false;
  }
  return isDecimal(result.substr(0, 1)) ? "V" + result : result;
}

std::string lowerCamel(const std::string& name) {
  std::string result = upperCamel(name);
  result[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(result[0])));
  return result;
}

}  // namespace opkit::shader_build
