// The sub-checks of `check` by name, and the account of them: for each case every sub-check ran, or says why not.
#pragma once

#include <string>
#include <vector>

#include "harness/run/results.h"

namespace opkit::harness {

/// The sub-checks that concern a backend, in the order of check.h. The names of the three forms of comparison,
/// accuracy, exact and specials, count as one: "accuracy".
const std::vector<std::string>& subChecksOf(const std::string& backend);

/// True for the sub-checks of a brief case: those that need no Session of another kind, no other kernel or shape; and
/// `traced`, which few cases have.
bool isOfOneSession(const std::string& subCheck);

/// Notes every sub-check that neither ran nor is noted.
void skipOpen(CaseResult& result, const std::string& why);

/// Notes the rest of the sub-checks of a case that ended early, and fails a case that passed although one is silent:
/// neither executed nor noted with the reason why not.
void accountForSubChecks(CaseResult& result);

/// Counts of one sub-check, for tables and summaries.
struct SubCheckCount {
  size_t ran = 0;
  std::map<std::string, size_t> notRun;  // by reason

  size_t missed() const;
};
/// By sub-check.
using SubCheckCounts = std::map<std::string, SubCheckCount>;

/// Adds the sub-checks of a recorded case.
void countSubChecks(const CaseRecord& record, SubCheckCounts& counts);

}  // namespace opkit::harness
