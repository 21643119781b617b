#include "harness/check/sub_checks.h"

#include <set>

namespace opkit::harness {
namespace {

/// Exact and special values have sub-checks of their own, in place of accuracy.
std::string commonName(const std::string& name) { return name == "exact" || name == "specials" ? "accuracy" : name; }

bool isAccounted(const CaseResult& result, const std::string& name) {
  const auto ran = [&](const SubCheck& sub) { return commonName(sub.name) == name; };
  const auto noted = [&](const NotRun& note) { return note.name == name; };
  return std::any_of(result.subChecks.begin(), result.subChecks.end(), ran) ||
         std::any_of(result.notRun.begin(), result.notRun.end(), noted);
}

}  // namespace

const std::vector<std::string>& subChecksOf(const std::string& backend) {
  static const std::vector<std::string> common = {"placement", "independence", "counters",  "canary",  "poison",
                                                  "accuracy",  "margin",       "repeat",    "clone",   "reuse",
                                                  "resize",    "shapes",       "constants", "batch",   "inputs",
                                                  "aliased",   "rounding",     "hidden",    "siblings"};
  static const auto with = [](std::vector<std::string> list, std::initializer_list<const char*> more) {
    list.insert(list.end(), more.begin(), more.end());
    return list;
  };
  static const std::vector<std::string> device =
      with(common, {"recording", "providers", "variants", "traced", "caches", "validation"});
  static const std::vector<std::string> host = with(common, {"threads", "pages", "heap", "providers", "offsets"});
  return backend == "vulkan" ? device : host;
}

bool isOfOneSession(const std::string& subCheck) {
  static const std::set<std::string> names = {
      "session",  "run",    "oracle", "placement", "independence", "counters", "canary", "poison",
      "accuracy", "margin", "repeat", "clone",     "validation",   "script",   "stored", "traced"};
  return names.contains(commonName(subCheck));
}

void skipOpen(CaseResult& result, const std::string& why) {
  for (const std::string& name : subChecksOf(result.backend))
    if (!isAccounted(result, name)) result.skip(name, why);
}

void accountForSubChecks(CaseResult& result) {
  const bool ended = result.status != CaseStatus::Pass && result.status != CaseStatus::Unproved;
  for (const std::string& name : subChecksOf(result.backend)) {
    if (isAccounted(result, name)) continue;
    if (ended)
      result.skip(name, "the case ended before: " + result.reason);
    else
      result.check(name, Status::internal("the sub-check did not run and gives no reason"));
  }
}

size_t SubCheckCount::missed() const {
  size_t sum = 0;
  for (const auto& [reason, count] : notRun) sum += count;
  return sum;
}

void countSubChecks(const CaseRecord& record, SubCheckCounts& counts) {
  for (const std::string& name : record.checks) ++counts[commonName(name)].ran;
  for (const auto& [name, reason] : record.notRun) ++counts[name].notRun[reason];
}

}  // namespace opkit::harness
