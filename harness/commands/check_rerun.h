// Reruns: groups of `check` that failed, run once more in a fresh worker. The first result stays the result.
#pragma once

#include "harness/commands/check_job.h"
#include "harness/run/isolated_jobs.h"

namespace opkit::harness {

/// What a unit gave when it ran again.
class Rerun {
 public:
  /// Nothing if the case was not among the results.
  std::optional<CaseStatus> of(const CaseRecord& record) const;

 private:
  friend class Reruns;
  std::optional<CaseStatus> all_;                                     // crash or hang of the whole unit
  std::map<std::pair<std::string, std::string>, CaseStatus> byCase_;  // by id and backend
};

class Reruns {
 public:
  /// At most `most` units run again: if much fails, a second try of everything tells little and takes long.
  Reruns(CheckJob job, IsolationLimits limits, size_t most)
      : job_(std::move(job)), limits_(std::move(limits)), most_(most) {}

  /// Runs the unit as it ran first, with the other cases of its group. Nothing after an interrupt and beyond the limit.
  /// Errors as of runIsolated.
  Result<std::optional<Rerun>> run(const CheckUnit& unit);

  /// Units beyond the limit.
  size_t refused() const { return asked_ > most_ ? asked_ - most_ : 0; }

 private:
  CheckJob job_;
  IsolationLimits limits_;
  size_t most_, asked_ = 0;
};

/// "  rerun    passed when run again: it comes and goes (...)\n" for the block of a failure.
std::string rerunText(CaseStatus again);

}  // namespace opkit::harness
