// CheckAccount: what a run of `check` did and did not do: the sub-checks of each operator, and how far the cases reach.
#pragma once

#include "harness/check/sub_checks.h"

namespace opkit::harness {

class CheckAccount {
 public:
  void add(const CaseRecord& record);

  /// The shares of large, deep and batched cases, and the sub-checks that did not run.
  void printSummary() const;
  /// Operator x sub-check: how often it ran of how often it could, and below the reasons why not.
  void printSubChecks() const;
  /// Sets the fields `reach` and `subChecks` of the summary line (reports/schema.md).
  void addTo(reports::SummaryRecord& summary) const;

 private:
  SubCheckCounts all() const;

  reports::ReachRecord reach_;
  std::map<std::pair<std::string, std::string>, SubCheckCounts> counts_;  // by operator and backend
};

}  // namespace opkit::harness
