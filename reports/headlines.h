// Headlines: the three lines that a reader of a night needs first, for the page and the terminal.
#pragma once

#include <string>

#include "reports/history/judged.h"
#include "reports/history/nights.h"
#include "reports/results/reader.h"

namespace opkit::reports {

struct Headlines {
  std::string verdict;  // "RED: 25900 cases executed of 26000 recorded. 3 failed for 1 reason, first ID on vulkan."
  std::string changes;  // against the night before: statuses and findings
  std::string share;    // "Complete: 28 runs, 25900 planned cases." or "INCOMPLETE: ..." with the finished share
  bool green = false;   // nothing failed and nothing is missing
};

/// `nights` and `judged` are null without a history.
Headlines headlinesOf(const Results& results, const Nights* nights, const Judged* judged);

/// Cases that were really executed (every status but unsupported, skip and unproved).
size_t executedCases(const Results& results);

}  // namespace opkit::reports
