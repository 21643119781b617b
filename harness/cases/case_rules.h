// The rules that hold for a case file as a whole: what every operator must meet before its cases count as a proof.
//
// `op-scaffold doctor`, `op-harness check` and the tests apply these and no others, so that an operator that passes the
// first two passes the tests. Exemptions stand in the file, with their reason (harness/cases.md). Reads the text alone:
// no operator is known here. Thread-safe.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace opkit::harness {

struct BrokenRule {
  std::string op;
  std::string message;  // "no case has an extent of 0"
};

/// What the case file breaks, by operator; exemptions that nothing needs are among it. Empty for a text that is no case
/// file, which parseCaseFile reports.
std::vector<BrokenRule> brokenCaseRules(std::string_view text);

/// The names of the rules, as exemptions use them.
const std::vector<std::string>& caseRuleNames();

}  // namespace opkit::harness
