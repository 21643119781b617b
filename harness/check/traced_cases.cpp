#include "harness/check/traced_cases.h"

#include <charconv>
#include <sstream>

#include "harness/cases/costs.h"

namespace opkit::harness {

extern const char* const kTracedCases;  // traced.tsv; generated

Result<TracedCases> TracedCases::parse(const std::string& text) {
  constexpr size_t kDigits = 16;
  TracedCases cases;
  std::istringstream lines(text);
  size_t number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    line.erase(std::min(line.find('#'), line.size()));
    while (line.ends_with('\t') || line.ends_with(' ')) line.pop_back();
    if (line.empty()) continue;
    uint64_t hash = 0;
    const size_t tab = line.find('\t');
    const char* const begin = line.data();
    const auto parsed = std::from_chars(begin, begin + std::min(tab, line.size()), hash, 16);
    if (tab != kDigits || parsed.ptr != begin + kDigits || !line.substr(tab).starts_with("\tdevice class "))
      return Status::invalidArgument("line {} is not a hash and a device class: '{}'", number, line);
    cases.variants_[hash].push_back(line.substr(tab + 1));
  }
  return cases;
}

const TracedCases& TracedCases::builtin() {
  static const TracedCases cases = *parse(kTracedCases);
  return cases;
}

const std::vector<std::string>& TracedCases::of(const Case& c) const {
  static const std::vector<std::string> none;
  if (c.anyFallback) return none;  // drawn
  const auto found = variants_.find(caseHash(c));
  return found == variants_.end() ? none : found->second;
}

size_t TracedCases::tracesOf(const CaseGroup& group) const {
  size_t count = 0;
  for (const Case& c : group.cases) count += of(c).size();
  return count;
}

uint64_t caseHash(const Case& c) { return hashOf(CaseGroup{.cases = {c}}); }

}  // namespace opkit::harness
