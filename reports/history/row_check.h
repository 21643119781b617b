// Checks a history before it is read: SQLite finds broken pages, but not rows that contradict each other.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "reports/history/sqlite.h"

namespace opkit::reports {

/// A run may be dated so many seconds ahead of this machine's clock: clocks differ, and nights have time zones.
inline constexpr int64_t kClockSlack = 24 * 3600;

/// Seconds since 1970 behind which a run is dated ahead of this machine's clock.
int64_t latestTime();

/// Corrupt names the table if a row refers to one that is not there, an id is no number that a history gives, or the
/// variants of a case's outcomes have gaps. Rows of `value` and `seen`, the large tables, are checked as they are read.
Status checkRows(const Database& database);

/// Hides the runs that are dated ahead of the clock from every later query of this connection: what came after one of
/// them would be compared with nothing. Returns the names of their nights.
Result<std::vector<std::string>> hideRunsAhead(const Database& database);

}  // namespace opkit::reports
