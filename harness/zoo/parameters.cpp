#include "harness/zoo/parameters.h"

#include <algorithm>
#include <charconv>
#include <set>
#include <string>
#include <vector>

namespace opkit::zoo {
namespace {

Status readOne(std::string_view name, std::string_view number, std::span<const Parameter> known) {
  const auto found = std::ranges::find(known, name, &Parameter::name);
  if (found == known.end()) {
    std::vector<std::string_view> names;
    for (const Parameter& parameter : known) names.push_back(parameter.name);
    if (names.empty()) return Status::invalidArgument("takes no parameters, got '{}'", name);
    return Status::invalidArgument("no parameter is called '{}'; expected one of {}", name, fmt::join(names, ", "));
  }
  int64_t value = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), value);
  if (error != std::errc() || end != number.data() + number.size() || value < 1 || value > found->most)
    return Status::invalidArgument("{}: expected a whole number from 1 to {}, got '{}'", name, found->most, number);
  *found->value = value;
  return Status::ok();
}

}  // namespace

Status readParameters(std::string_view text, std::span<const Parameter> known) {
  std::set<std::string_view> given;
  for (bool isLast = text.empty(); !isLast;) {
    const std::string_view entry = text.substr(0, text.find(','));
    isLast = entry.size() == text.size();
    text.remove_prefix(isLast ? text.size() : entry.size() + 1);
    const size_t equals = entry.find('=');
    if (equals == std::string_view::npos)
      return Status::invalidArgument("expected parameters as NAME=NUMBER,NAME=NUMBER, got '{}'", entry);
    const std::string_view name = entry.substr(0, equals);
    if (!given.insert(name).second) return Status::invalidArgument("{} is given twice", name);
    OPKIT_TRY(readOne(name, entry.substr(equals + 1), known));
  }
  return Status::ok();
}

}  // namespace opkit::zoo
