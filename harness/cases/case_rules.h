// The rules for a case file as a whole, which every operator must meet before its cases count as a proof.
//
// `op-scaffold doctor`, `op-harness check` and the tests apply exactly these rules, so an operator that passes the
// first two passes the tests. Exemptions are in the file, with their reason (harness/cases.md). Reads only the text;
// knows no operator. Thread-safe.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace opkit::harness {

struct BrokenRule {
  std::string op;
  std::string message;  // "no case has an extent of 0"
};

/// The rules that the case file breaks, by operator, including unneeded exemptions. Empty for a text that is no case
/// file; parseCaseFile reports that.
std::vector<BrokenRule> brokenCaseRules(std::string_view text);

/// The names of the rules, as exemptions use them.
const std::vector<std::string>& caseRuleNames();

}  // namespace opkit::harness
