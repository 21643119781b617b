#include "reports/headlines.h"

#include <algorithm>

#include "reports/causes.h"
#include "reports/tally.h"

namespace opkit::reports {
namespace {

std::string plural(size_t count, const std::string& what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

/// "19 failed as expected, 1 flaky": failures that expectation files name; empty without any.
std::string knownFailures(const Tally& tally) {
  std::string text;
  for (const Ending ending : {Ending::FailedAsExpected, Ending::Flaky})
    if (const size_t number = tally.count(ending); number > 0)
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", number, nameOf(ending));
  return text;
}

std::string verdictOf(const Results& results, const Tally& tally) {
  const std::string known = knownFailures(tally), cases = plural(tally.total(), "case");
  if (const size_t failed = tally.count(Ending::Failed); failed > 0) {
    const auto first =
        std::ranges::find_if(results.cases, [](const CaseRecord& record) { return isFailure(record.status); });
    return fmt::format("RED: {} of {} failed for {}, first {} on {}{}{}.", failed, cases,
                       plural(causesOf(results).size(), "reason"), first->id, first->backend, known.empty() ? "" : "; ",
                       known);
  }
  const std::string none = known.empty() ? "none failed" : known + ", no other failed";
  if (results.complete()) return fmt::format("GREEN: {} recorded, {}.", cases, none);
  return fmt::format("NOT GREEN: {} recorded, {}, but not all that was planned ran.", cases, none);
}

std::string changesOf(const Nights* nights, const Judged* judged) {
  if (!nights || !judged) return "No history was given: nothing to compare with.";
  if (nights->rows.size() < 2) return "The first night of this history: nothing to compare with.";
  const NightRow& before = nights->rows[1];
  const auto worse = std::ranges::count_if(nights->changes, &StatusChange::worse);
  const std::string gone = vanishedSummary(nights->vanished);
  std::string text = fmt::format("Since {} ({}): {} changed status ({} for the worse){}{}; {}.", before.name,
                                 before.commit.substr(0, 12), plural(nights->changes.size(), "case"), worse,
                                 gone.empty() ? "" : ", ", gone, judged->summary());
  for (const JudgedFinding& finding : judged->findings)
    if (finding.fresh && finding.worse) return text + " First: " + finding.what + ".";
  return text;
}

std::string shareOf(const Results& results) {
  const std::string equation = equationOf(results) + ".";
  if (!results.complete()) return fmt::format("{}. {}", results.missing(), equation);
  if (results.runs.empty()) return equation;
  if (results.runs.size() == 1) return "The run reached its end: " + equation;
  return fmt::format("All {} runs reached their end: {}", results.runs.size(), equation);
}

}  // namespace

Headlines headlinesOf(const Results& results, const Nights* nights, const Judged* judged) {
  const Tally tally = tallyOf(results);
  return {verdictOf(results, tally), changesOf(nights, judged), shareOf(results),
          tally.count(Ending::Failed) == 0 && results.complete()};
}

size_t executedCases(const Results& results) {
  return static_cast<size_t>(
      std::ranges::count_if(results.cases, [](const CaseRecord& record) { return isExecuted(record.status); }));
}

}  // namespace opkit::reports
