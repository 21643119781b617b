#include "reports/headlines.h"

#include <algorithm>

#include "reports/causes.h"

namespace opkit::reports {
namespace {

std::string plural(size_t count, const std::string& what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

std::string verdictOf(const Results& results, size_t failed) {
  std::string counts = fmt::format("{} cases executed of {} recorded.", executedCases(results), results.cases.size());
  const auto known = std::ranges::count(results.cases, CaseStatus::Expected, &CaseRecord::status);
  if (known > 0) counts += fmt::format(" {} failed as expected.", known);
  if (failed > 0) {
    const auto first =
        std::ranges::find_if(results.cases, [](const CaseRecord& record) { return isFailure(record.status); });
    return fmt::format("RED: {} {} failed for {}, first {} on {}.", counts, failed,
                       plural(causesOf(results).size(), "reason"), first->id, first->backend);
  }
  if (!results.complete()) return fmt::format("NOT GREEN: {} None of these failed.", counts);
  return fmt::format("GREEN: {} None failed.", counts);
}

std::string changesOf(const Nights* nights, const Judged* judged) {
  if (!nights || !judged) return "No history was given: nothing to compare with.";
  if (nights->rows.size() < 2) return "The first night of this history: nothing to compare with.";
  const NightRow& before = nights->rows[1];
  const auto worse = std::ranges::count_if(nights->changes, &StatusChange::worse);
  std::string text =
      fmt::format("Since {} ({}): {} changed status ({} for the worse); {}.", before.name, before.commit.substr(0, 12),
                  plural(nights->changes.size(), "case"), worse, judged->summary());
  for (const JudgedFinding& finding : judged->findings)
    if (finding.fresh && finding.worse) return text + " First: " + finding.what + ".";
  return text;
}

std::string shareOf(const Results& results) {
  if (!results.complete()) return results.missing() + ".";
  size_t planned = 0;
  for (const Run& run : results.runs) planned += run.planned.value_or(0);
  return fmt::format("Complete: {}, {}.", plural(results.runs.size(), "run"), plural(planned, "planned case"));
}

}  // namespace

Headlines headlinesOf(const Results& results, const Nights* nights, const Judged* judged) {
  const auto failed = static_cast<size_t>(
      std::ranges::count_if(results.cases, [](const CaseRecord& record) { return isFailure(record.status); }));
  return {verdictOf(results, failed), changesOf(nights, judged), shareOf(results), failed == 0 && results.complete()};
}

size_t executedCases(const Results& results) {
  return static_cast<size_t>(
      std::ranges::count_if(results.cases, [](const CaseRecord& record) { return isExecuted(record.status); }));
}

}  // namespace opkit::reports
