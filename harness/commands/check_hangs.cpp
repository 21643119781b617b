#include "harness/commands/check_hangs.h"

#include <fmt/format.h>

#include "harness/commands/check_time.h"
#include "harness/run/terminal.h"

namespace opkit::harness {

double hangSeconds(const CheckUnit& unit, const Catalogue& catalogue, const OpRegistry& registry,
                   const std::vector<std::string>& backends, double most) {
  constexpr double kTimesEstimate = 10, kLeast = 5;
  const double estimate = estimatedCoreSeconds({unit}, catalogue, registry, backends).front();
  return std::min(most, std::max(kLeast, kTimesEstimate * estimate));
}

Result<std::optional<JobReports>> Hangs::runAgain(const CheckUnit& unit, const std::string& op, double seconds,
                                                  JobOutcome& late) {
  constexpr double kMoreTime = 2;
  std::optional<JobReports> reports;
  if (areMany(op)) return reports;
  IsolationLimits limits = limits_;
  limits.timeoutSeconds = std::min(limits_.timeoutSeconds, kMoreTime * seconds);
  OPKIT_TRY(runIsolated(
      1, limits, [&](size_t) { return job_.run(unit).toText(); },
      [&](size_t, const JobOutcome& outcome) {
        late = outcome;
        if (outcome.kind == JobOutcome::Kind::Answered) reports = JobReports::fromText(outcome.answer);
      }));
  if (reports || late.kind != JobOutcome::Kind::TimedOut) return reports;
  ++hung_[op];
  fmt::print("{} {}: {}{}\n", coloured(CaseStatus::Hang, "hang"), op, lossText(late, limits.timeoutSeconds),
             areMany(op) ? "; its further groups that hang are not run again" : "");
  std::fflush(stdout);
  return reports;
}

bool Hangs::areMany(const std::string& op) const {
  constexpr size_t kMany = 3;
  const auto found = hung_.find(op);
  return found != hung_.end() && found->second >= kMany;
}

}  // namespace opkit::harness
