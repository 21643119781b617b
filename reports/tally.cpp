#include "reports/tally.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <vector>

namespace opkit::reports {
namespace {

/// "38 killed + 2 survived"
std::string fatesOf(const Results& results) {
  std::map<std::string, size_t> fates;
  for (const MutantRecord& mutant : results.mutants) ++fates[mutant.fate];
  std::vector<std::string> terms;
  for (const auto& [fate, number] : fates) terms.push_back(fmt::format("{} {}", number, fate));
  return fmt::format("{}", fmt::join(terms, " + "));
}

}  // namespace

Ending endingOf(CaseStatus status) {
  switch (status) {
    case CaseStatus::Pass: return Ending::Passed;
    case CaseStatus::Unsupported: return Ending::Unsupported;
    case CaseStatus::Skip: return Ending::Skipped;
    case CaseStatus::Unproved: return Ending::Unproved;
    case CaseStatus::Expected: return Ending::FailedAsExpected;
    case CaseStatus::Flake: return Ending::Flaky;
    case CaseStatus::Fail:
    case CaseStatus::Crash:
    case CaseStatus::Hang:
    case CaseStatus::Fallback:
    case CaseStatus::Mistrusted:
    case CaseStatus::Refused:
    case CaseStatus::Unstable:
    case CaseStatus::Leak:
    case CaseStatus::Unexpected: return Ending::Failed;
  }
  return Ending::Failed;
}

const char* nameOf(Ending ending) {
  static constexpr std::array<const char*, kEndingCount> kNames = {
      "passed", "failed", "failed as expected", "flaky", "unsupported", "skipped", "unproved"};
  return kNames[static_cast<size_t>(ending)];
}

size_t Tally::total() const { return std::accumulate(counts_.begin(), counts_.end(), size_t{0}); }

std::string Tally::sum() const {
  std::vector<std::string> terms;
  for (size_t i = 0; i < kEndingCount; ++i)
    if (counts_[i] > 0) terms.push_back(fmt::format("{} {}", counts_[i], nameOf(static_cast<Ending>(i))));
  return terms.empty() ? "0 passed" : fmt::format("{}", fmt::join(terms, " + "));
}

Tally tallyOf(const Results& results) {
  Tally tally;
  for (const CaseRecord& one : results.cases) tally.add(one.status);
  return tally;
}

PlanSum PlanSum::of(const Results& results) {
  PlanSum sum;
  sum.recorded = results.cases.size() + results.mutants.size();
  for (const Run& run : results.runs) {
    const size_t planned = run.planned.value_or(0);
    sum.planned += planned;
    sum.missing += planned - std::min(planned, run.written);
    sum.any = sum.any || run.planned;
  }
  sum.unplanned = sum.recorded + sum.missing - sum.planned;
  return sum;
}

std::string PlanSum::toString() const {
  if (!any) return fmt::format("{} recorded", recorded);
  return fmt::format("{} planned{}{} = {} recorded", planned,
                     unplanned > 0 ? fmt::format(" + {} unplanned", unplanned) : "",
                     missing > 0 ? fmt::format(" - {} missing", missing) : "", recorded);
}

std::string equationOf(const Results& results) {
  const std::string recorded = PlanSum::of(results).toString(), endings = tallyOf(results).sum();
  if (results.mutants.empty()) return fmt::format("{} = {}", recorded, endings);
  return fmt::format("{0} = {1} cases + {2} mutants; {1} cases = {3}; {2} mutants = {4}", recorded,
                     results.cases.size(), results.mutants.size(), endings, fatesOf(results));
}

}  // namespace opkit::reports
