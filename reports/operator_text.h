// Operator text: one operator as lines for a terminal.
#pragma once

#include <string>
#include <vector>

#include "reports/causes.h"
#include "reports/history/judged.h"
#include "reports/operator_facts.h"
#include "reports/terminal.h"

namespace opkit::reports {

/// Sources beside the facts; the pointers may be null.
struct OperatorSources {
  std::vector<Cause> failures;  // of this operator
  const TimeHistory* history = nullptr;
  const Judged* judged = nullptr;
};

/// Lines of at most `terminal.columns` characters; the commands that repeat failures stay whole and may be longer.
std::string operatorText(const OperatorFacts& facts, const OperatorSources& sources, const Terminal& terminal);

}  // namespace opkit::reports
