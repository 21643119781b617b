// Hangs: groups of `check` that gave no answer in the time that their estimate allows. Each runs once more with more
// time, so that a slow machine or a first compilation of shaders is no hang.
#pragma once

#include "harness/commands/check_job.h"
#include "harness/run/isolated_jobs.h"

namespace opkit::harness {

/// Seconds that a unit may take: ten times its estimate and at least 5, but at most `most`.
double hangSeconds(const CheckUnit& unit, const Catalogue& catalogue, const OpRegistry& registry,
                   const std::vector<std::string>& backends, double most);

class Hangs {
 public:
  /// `limits` of one worker, with the most seconds of a unit.
  Hangs(CheckJob job, IsolationLimits limits) : job_(std::move(job)), limits_(std::move(limits)) {
    limits_.workers = 1;
  }

  /// Runs a unit of operator `op` again that gave no answer within `seconds`, with twice that, and returns what
  /// it gives; nothing, and a line on stdout at once, if it hangs again. Not again after three hangs of the operator.
  /// `late` becomes the second outcome. Errors as of runIsolated.
  Result<std::optional<JobReports>> runAgain(const CheckUnit& unit, const std::string& op, double seconds,
                                             JobOutcome& late);

  /// True if so many groups of the operator hung that a further one is not looked into.
  bool areMany(const std::string& op) const;

 private:
  CheckJob job_;
  IsolationLimits limits_;
  std::map<std::string, size_t> hung_;  // groups, by operator
};

}  // namespace opkit::harness
