// Recent: the cases that were measured lately, so that a night costs the same after many nights.
#pragma once

#include <set>
#include <vector>

#include "reports/history/sqlite.h"

namespace opkit::reports {

/// Ids of subjects seen on one of the last `nights` nights on which their device, command and options were in use. A
/// few more may be among them. `nightOf`: the position of a run's night, by id of the run.
Result<std::set<int64_t>> recentSubjects(const Database& database, const std::vector<uint32_t>& nightOf, size_t nights);

}  // namespace opkit::reports
