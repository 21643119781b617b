#include "reports/history/migrate.h"

#include <xxhash.h>

#include <charconv>
#include <new>

#include "reports/history/keys.h"
#include "reports/history_schema.h"
#include "reports/results/common.h"

namespace opkit::reports {
namespace {

constexpr const char* kTakeOut = R"sql(
DROP VIEW results; DROP VIEW times;
CREATE TEMP TABLE subject1 AS SELECT * FROM subject;
CREATE TEMP TABLE outcome1 AS
  SELECT outcome.*, row_number() OVER (PARTITION BY subject ORDER BY outcome.id) - 1 AS variant,
         repro_form(repro, case_id) AS form FROM outcome JOIN subject ON subject.id = outcome.subject;
CREATE INDEX temp.outcome1_id ON outcome1 (id);
CREATE TEMP TABLE seen1 AS SELECT * FROM seen;
DROP TABLE seen; DROP TABLE outcome; DROP TABLE subject;
)sql";

constexpr const char* kPutBack = R"sql(
INSERT INTO item (kind, case_id, op, dtype, hash)
  SELECT kind, case_id, op, dtype, item_hash(kind, case_id) FROM subject1 GROUP BY kind, case_id;
INSERT INTO subject SELECT subject1.id, item.id, device, options FROM subject1 JOIN item
  ON hash = item_hash(subject1.kind, subject1.case_id) AND item.kind = subject1.kind AND item.case_id = subject1.case_id;
INSERT INTO conclusion (provider, kernel, status, failed_check, reason)
  SELECT DISTINCT provider, kernel, status, failed_check, reason FROM outcome1;
INSERT INTO command (text) SELECT DISTINCT form FROM outcome1;
INSERT INTO outcome
  SELECT subject, variant, conclusion.id, margin, max_ulp, max_abs, nmse, bits_of(bits), bits_of(shader), shader_bytes,
         arena_bytes, allocations, dispatches, command.id
  FROM outcome1 JOIN command ON text = form JOIN conclusion USING (provider, kernel, status, failed_check, reason);
INSERT INTO seen SELECT run, subject, variant, NULL FROM seen1 JOIN outcome1 ON outcome1.id = seen1.outcome;
DROP TABLE seen1; DROP TABLE outcome1; DROP TABLE subject1;
)sql";

std::string textOf(sqlite3_value* value) {
  const auto* text = static_cast<const char*>(sqlite3_value_blob(value));
  return text ? std::string(text, static_cast<size_t>(sqlite3_value_bytes(value))) : std::string();
}

/// A function of SQL. No exception may pass through SQLite.
template <auto kBody>
void inSql(sqlite3_context* context, int /*count*/, sqlite3_value** values) {
  try {
    kBody(context, values);
  } catch (const std::bad_alloc&) {
    sqlite3_result_error_nomem(context);
  }
}

void itemHashInSql(sqlite3_context* context, sqlite3_value** values) {
  sqlite3_result_int64(context, itemHash(textOf(values[0]), textOf(values[1])));
}

void bitsOfInSql(sqlite3_context* context, sqlite3_value** values) {
  if (const auto bits = bitsOf(textOf(values[0]))) sqlite3_result_int64(context, *bits);
}

void reproFormInSql(sqlite3_context* context, sqlite3_value** values) {
  const std::string form = reproForm(textOf(values[0]), textOf(values[1]));
  sqlite3_result_text(context, form.data(), static_cast<int>(form.size()), SQLITE_TRANSIENT);
}

}  // namespace

int64_t itemHash(const std::string& kind, const std::string& caseId) {
  const std::string text = kind + " " + caseId;
  return static_cast<int64_t>(XXH3_64bits(text.data(), text.size()) >> 32);
}

std::optional<int64_t> bitsOf(const std::string& digits) {
  uint64_t bits = 0;
  const char* end = digits.data() + digits.size();
  const auto [rest, error] = std::from_chars(digits.data(), end, bits, 16);
  return error == std::errc() && rest == end ? std::optional(static_cast<int64_t>(bits)) : std::nullopt;
}

Status migrateFromVersion1(const Database& database) {
  OPKIT_TRY(database.define("item_hash", 2, inSql<itemHashInSql>));
  OPKIT_TRY(database.define("bits_of", 1, inSql<bitsOfInSql>));
  OPKIT_TRY(database.define("repro_form", 2, inSql<reproFormInSql>));
  OPKIT_TRY(database.execute(kTakeOut));
  OPKIT_TRY(database.execute(kHistorySchema));
  return database.execute(kPutBack);
}

}  // namespace opkit::reports
