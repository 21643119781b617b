#include "reports/causes.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

namespace opkit::reports {
namespace {

constexpr size_t kOperatorsShown = 4;

bool isWordCharacter(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

/// The text with "#" in place of each number and each list of numbers: "expected [2,3], got nan" is "expected [#], got
/// #".
std::string withoutNumbers(const std::string& text) {
  std::string plain;
  for (size_t at = 0; at < text.size();) {
    const bool starts = at == 0 || !isWordCharacter(text[at - 1]);
    size_t end = at;
    if (starts && (text.compare(at, 3, "nan") == 0 || text.compare(at, 3, "inf") == 0)) end = at + 3;
    if (starts && std::isdigit(static_cast<unsigned char>(text[at])))
      while (end < text.size() && (isWordCharacter(text[end]) || text[end] == '.' ||
                                   (text[end] == '-' && std::tolower(text[end - 1]) == 'e')))
        ++end;
    const bool isNumber = end > at && (end == text.size() || !isWordCharacter(text[end]));
    if (isNumber) {
      if (plain.ends_with('-')) plain.pop_back();
      if (plain.ends_with("#,")) plain.resize(plain.size() - 2);
      plain += '#';
      at = end;
    } else {
      plain += text[at++];
    }
  }
  return plain;
}

}  // namespace

std::string Cause::operators() const {
  std::set<std::string> names;
  for (const CaseRecord* one : cases)
    if (!one->op.empty()) names.insert(one->op);
  std::vector<std::string> shown(names.begin(), names.end());
  const size_t more = names.size() - std::min(names.size(), kOperatorsShown);
  shown.resize(names.size() - more);
  return fmt::format("{}{}", fmt::join(shown, ", "), more > 0 ? fmt::format(" and {} more", more) : "");
}

std::vector<Cause> causesOf(const Results& results) {
  std::map<std::tuple<std::string, std::string, CaseStatus, std::string, std::string>, size_t> known;
  std::vector<Cause> causes;
  for (const CaseRecord& one : results.cases) {
    if (!isFailure(one.status)) continue;
    const auto [found, isNew] = known.try_emplace(
        {one.kind, one.backend, one.status, one.failedCheck, withoutNumbers(one.reason)}, causes.size());
    if (isNew) causes.emplace_back();
    causes[found->second].cases.push_back(&one);
  }
  std::ranges::stable_sort(causes, std::ranges::greater(), [](const Cause& cause) { return cause.cases.size(); });
  return causes;
}

}  // namespace opkit::reports
