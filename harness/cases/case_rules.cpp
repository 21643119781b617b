#include "harness/cases/case_rules.h"

#include <fmt/format.h>

#include <charconv>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "engine/base/json_text.h"

namespace opkit::harness {
namespace {

using Json = nlohmann::json;
using Extents = std::vector<int64_t>;

// Products of such elements of the exact lane, at most 4 * 4 each, sum up exactly in fp32.
constexpr int64_t kMostExactElements = int64_t{1} << 20;
static_assert(4 * 4 * kMostExactElements <= int64_t{1} << 24);

/// The properties covered by the cases of one operator.
struct Tried {
  bool empty = false, one = false, odd = false, exactFits = true;
  std::set<size_t> ranks;  // of the first input
};

struct Rule {
  const char* name;
  const char* message;
  bool (*isMet)(const Tried& tried);
};

constexpr Rule kRules[] = {
    {"empty", "no case has an extent of 0", [](const Tried& tried) { return tried.empty; }},
    {"one", "no case has an extent of 1", [](const Tried& tried) { return tried.one; }},
    {"odd", "no case has an odd extent", [](const Tried& tried) { return tried.odd; }},
    {"ranks", "all cases have one rank", [](const Tried& tried) { return tried.ranks.size() > 1; }},
    {"exact", "a case of the exact lane has more than 1048576 elements, whose sums fp32 does not count",
     [](const Tried& tried) { return tried.exactFits; }},
};

/// "T[2,3]" as 2, 3; nullopt for an absent input and for a text that parseCaseFile refuses.
std::optional<Extents> extentsOf(const Json& description) {
  if (!description.is_string()) return std::nullopt;
  const std::string& text = description.get_ref<const std::string&>();
  const size_t open = text.find('['), close = text.find(']');
  if (open == std::string::npos || close == std::string::npos || close < open) return std::nullopt;
  Extents extents;
  for (const char* at = text.data() + open + 1; at < text.data() + close;) {
    int64_t extent = 0;
    const auto parsed = std::from_chars(at, text.data() + close, extent);
    if (parsed.ec != std::errc()) return std::nullopt;
    extents.push_back(extent);
    at = parsed.ptr + 1;  // the comma
  }
  return extents;
}

void addSet(const Json& shapeSet, bool exact, Tried& tried) {
  for (size_t i = 0; shapeSet.is_array() && i < shapeSet.size(); ++i) {
    const std::optional<Extents> extents = extentsOf(shapeSet[i]);
    if (!extents) continue;
    if (i == 0) tried.ranks.insert(extents->size());
    int64_t elements = 1;
    for (const int64_t extent : *extents) {
      tried.empty = tried.empty || extent == 0;
      tried.one = tried.one || extent == 1;
      tried.odd = tried.odd || (extent > 1 && extent % 2 == 1);
      elements *= std::clamp(extent, int64_t{0}, kMostExactElements + 1);
      elements = std::min(elements, kMostExactElements + 1);
    }
    if (exact && i == 0) tried.exactFits = tried.exactFits && elements <= kMostExactElements;
  }
}

/// `key` of an object if it is a list; else an empty list.
Json listOf(const Json& object, const char* key) {
  return object.is_object() && object.contains(key) && object[key].is_array() ? object[key] : Json::array();
}

/// The operators of an entry: "op" is a name or a list of names.
std::vector<std::string> operatorsOf(const Json& entry) {
  if (!entry.is_object() || !entry.contains("op")) return {};
  if (entry["op"].is_string()) return {entry["op"].get<std::string>()};
  std::vector<std::string> names;
  for (const Json& name : listOf(entry, "op"))
    if (name.is_string()) names.push_back(name.get<std::string>());
  return names;
}

/// An entry with more "data" than inputs: parseCaseFile refuses it, but only after a build.
void findSurplusData(const Json& entry, std::vector<BrokenRule>& broken) {
  const size_t data = listOf(entry, "data").size();
  for (const Json& shapeSet : listOf(entry, "inputs"))
    if (shapeSet.is_array() && data > shapeSet.size())
      for (const std::string& op : operatorsOf(entry))
        return broken.push_back({op, fmt::format("\"data\" has an entry per input; it has {}, and {} has {} inputs",
                                                 data, shapeSet.dump(), shapeSet.size())});
}

std::map<std::string, Tried> triedIn(const Json& file) {
  std::map<std::string, Tried> operators;
  for (const Json& entry : listOf(file, "cases")) {
    const Json lanes = listOf(entry, "lanes");
    const bool exact = std::find(lanes.begin(), lanes.end(), "exact") != lanes.end();
    for (const std::string& op : operatorsOf(entry)) {
      Tried& tried = operators[op];
      for (const Json& shapeSet : listOf(entry, "inputs")) addSet(shapeSet, exact, tried);
    }
  }
  return operators;
}

}  // namespace

const std::vector<std::string>& caseRuleNames() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> list;
    for (const Rule& rule : kRules) list.emplace_back(rule.name);
    return list;
  }();
  return names;
}

std::vector<BrokenRule> brokenCaseRules(std::string_view text) {
  const Json file = parseJson(text);
  std::set<std::pair<std::string, std::string>> exempt;  // operator, rule
  for (const Json& entry : listOf(file, "exempt"))
    for (const Json& rule : listOf(entry, "rules"))
      for (const std::string& op : operatorsOf(entry))
        if (rule.is_string()) exempt.emplace(op, rule.get<std::string>());
  std::vector<BrokenRule> broken;
  for (const Json& entry : listOf(file, "cases")) findSurplusData(entry, broken);
  for (const auto& [op, tried] : triedIn(file))
    for (const Rule& rule : kRules) {
      const bool isExempt = exempt.erase({op, rule.name}) > 0;
      if (isExempt && rule.isMet(tried))
        broken.push_back({op, fmt::format("\"exempt\" from \"{}\" without need: its cases meet the rule", rule.name)});
      else if (!isExempt && !rule.isMet(tried))
        broken.push_back({op, rule.message});
    }
  for (const auto& [op, rule] : exempt)
    broken.push_back({op, fmt::format("\"exempt\" from \"{}\", but the file has no case of it", rule)});
  return broken;
}

}  // namespace opkit::harness
