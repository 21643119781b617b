// Migrate: turns the tables of a history of version 1 into those of this version.
#pragma once

#include "reports/history/sqlite.h"

namespace opkit::reports {

/// Within a transaction of the caller. Subjects, series, runs and nights keep their ids; durations are unknown.
Status migrateFromVersion1(const Database& database);

}  // namespace opkit::reports
