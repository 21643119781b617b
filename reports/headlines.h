// Headlines: the three lines that a reader of a night needs first, for the page and the terminal.
#pragma once

#include <string>

#include "reports/history/judged.h"
#include "reports/history/nights.h"
#include "reports/results/reader.h"

namespace opkit::reports {

struct Headlines {
  std::string verdict;  // "RED: 3 of 26000 cases failed for 1 reason, first ID on vulkan."
  std::string changes;  // against the night before: statuses and findings
  /// "All 28 runs reached their end: 26000 planned = 26000 recorded = 25900 passed + ...", or "INCOMPLETE: ..." with
  /// the finished share; then the same sum.
  std::string share;
  bool green = false;  // nothing failed and nothing is missing
};

/// `nights` and `judged` are null without a history.
Headlines headlinesOf(const Results& results, const Nights* nights, const Judged* judged);

/// Cases that were really executed (every status but unsupported, skip and unproved).
size_t executedCases(const Results& results);

}  // namespace opkit::reports
