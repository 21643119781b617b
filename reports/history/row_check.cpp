#include "reports/history/row_check.h"

#include <ctime>

namespace opkit::reports {
namespace {

constexpr int64_t kMostId = int64_t{1} << 26;  // readers have vectors indexed by ids
constexpr const char* kIdTables[] = {"night",   "environment", "run",     "device",    "item",
                                     "subject", "series",      "command", "conclusion"};
constexpr const char* kReferences[] = {"run", "calibration", "subject", "series", "outcome", "mutation"};

Status damaged(const Database& database, const std::string& what) {
  return Status::corrupt("{}: the database is damaged: {}", database.path(), what);
}

/// Whether the query gives a row.
Result<bool> any(const Database& database, const std::string& sql) {
  OPKIT_ASSIGN(Statement rows, database.prepare(sql));
  return rows.step();
}

}  // namespace

int64_t latestTime() { return static_cast<int64_t>(std::time(nullptr)) + kClockSlack; }

Status checkRows(const Database& database) {
  for (const char* table : kIdTables) {
    OPKIT_ASSIGN(const bool isWrong,
                 any(database, fmt::format("SELECT 1 FROM {} WHERE id NOT BETWEEN 1 AND {} LIMIT 1", table, kMostId)));
    if (isWrong) return damaged(database, fmt::format("an id of '{}' is no number from 1 to {}", table, kMostId));
  }
  for (const char* table : kReferences) {
    OPKIT_ASSIGN(const bool isWrong, any(database, fmt::format("PRAGMA foreign_key_check({})", table)));
    if (isWrong) return damaged(database, fmt::format("a row of '{}' refers to a row that is not there", table));
  }
  OPKIT_ASSIGN(const bool hasGaps,
               any(database,
                   "SELECT 1 FROM outcome GROUP BY subject HAVING min(variant) != 0 OR max(variant) "
                   "!= count(*) - 1 LIMIT 1"));
  return hasGaps ? damaged(database, "the variants of an outcome have gaps") : Status::ok();
}

Result<std::vector<std::string>> hideRunsAhead(const Database& database) {
  std::vector<std::string> nights;
  OPKIT_ASSIGN(Statement rows,
               database.prepare("SELECT DISTINCT night.name FROM run JOIN night ON night.id = run.night WHERE at > ?"));
  rows.bind(latestTime());
  while (true) {
    OPKIT_ASSIGN(const bool more, rows.step());
    if (!more) break;
    nights.push_back(rows.text(0));
  }
  // A temporary view goes before the table of its name.
  if (!nights.empty())
    OPKIT_TRY(
        database.execute(fmt::format("CREATE TEMP VIEW run AS SELECT * FROM main.run WHERE at <= {}", latestTime())));
  return nights;
}

}  // namespace opkit::reports
