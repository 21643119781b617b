// The cases of a day: what --budget chooses, for every command that has the option.
#pragma once

#include "harness/check/day_set.h"
#include "harness/commands/commands.h"

namespace opkit::harness {

/// The budget of today, or of `day`, for so many `seconds` (empty: the default). Operators whose files are edited are
/// in it.
DayBudget dayBudget(const std::string& seconds, std::optional<uint64_t> day, const OpRegistry& registry);

/// loadCases with the draws of the day, if there is a budget. Says how far drawing is.
Result<Catalogue> loadCasesOf(CaseOptions cases, const std::optional<DayBudget>& budget, const OpRegistry& registry);

}  // namespace opkit::harness
