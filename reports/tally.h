// Tally: how many results ended in which way. The page and the last lines count in these terms only, so that their
// numbers add up.
#pragma once

#include <array>
#include <string>

#include "reports/results/reader.h"

namespace opkit::reports {

/// How a case ended, for a reader. Each CaseStatus belongs to exactly one ending; all failures of a run are one.
enum class Ending { Passed, Failed, FailedAsExpected, Flaky, Unsupported, Skipped, Unproved };
inline constexpr size_t kEndingCount = 7;

Ending endingOf(CaseStatus status);
/// "failed as expected"
const char* nameOf(Ending ending);

class Tally {
 public:
  void add(CaseStatus status) { ++counts_[static_cast<size_t>(endingOf(status))]; }
  size_t count(Ending ending) const { return counts_[static_cast<size_t>(ending)]; }
  size_t total() const;
  /// "25 passed + 3 failed + 2 unsupported": the endings that occurred; "0 passed" if none did.
  std::string sum() const;

 private:
  std::array<size_t, kEndingCount> counts_{};
};

Tally tallyOf(const Results& results);

/// Lines of cases and mutants: planned + unplanned - missing = recorded.
struct PlanSum {
  size_t planned = 0;
  size_t unplanned = 0;  // failures of a whole run, cases of a group that crashed, and runs without a plan
  size_t missing = 0;
  size_t recorded = 0;
  bool any = false;  // a run has a plan

  static PlanSum of(const Results& results);
  /// "30 planned + 2 unplanned - 5 missing = 27 recorded", without terms that are 0; "27 recorded" without any plan.
  std::string toString() const;
};

/// One chain of equations from the plan to the endings: "30 planned = 30 recorded = 25 passed + 3 failed + 2
/// unsupported". Mutants have a sum of their own.
std::string equationOf(const Results& results);

}  // namespace opkit::reports
