// CheckTime: how long a `check` takes beside its estimate, and when its clock cuts it.
#pragma once

#include <optional>

#include "harness/check/day_set.h"
#include "harness/commands/check_job.h"
#include "harness/run/run_clock.h"

namespace opkit::harness {

/// Seconds of one core on a software device, by unit (harness/cases/costs.h); 0 for error cases and shapes.
std::vector<double> estimatedCoreSeconds(const std::vector<CheckUnit>& units, const Catalogue& catalogue,
                                         const OpRegistry& registry, const std::vector<std::string>& backends);

/// So that the first failure comes soon: units of less than a second, smallest first, then the others, largest first,
/// so that the last ones end together.
void orderForFailures(std::vector<CheckUnit>& units, const Catalogue& catalogue, const OpRegistry& registry,
                      const std::vector<std::string>& backends);

class CheckTime {
 public:
  /// The run begins, with `jobs` workers.
  CheckTime(const std::optional<DayBudget>& budget, size_t jobs);

  /// True if the estimates were far too low for the machine: after three times the budget; or, since compiling shaders
  /// for another device class or with an empty cache takes minutes whatever the budget, ten minutes or fifteen times
  /// it. Counts as a RunClock does: other processes do not cut a run, unless it takes twenty times as long by the wall.
  bool isCut();

  void estimate(double coreSeconds) { coreSeconds_ = coreSeconds; }
  /// The cases are known.
  void beginCases();
  void addResult(const JobReports& job);
  void addRerun(double seconds) { times_.rerunning += seconds; }

  /// See RunTimes::toString; without an estimate "took 12 s".
  std::string toString();

 private:
  void look();

  const std::optional<DayBudget> budget_;
  const double cores_;  // of the estimate
  RunClock clock_;
  RunTimes times_;
  std::optional<double> coreSeconds_;
};

}  // namespace opkit::harness
