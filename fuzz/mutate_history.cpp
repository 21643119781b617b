#include <fmt/format.h>
#include <sqlite3.h>

#include <memory>

#include "fuzz/mutate_text.h"
#include "fuzz/text_kinds.h"

namespace opkit::fuzz {
namespace {

/// A column of the history, and where it stands in its table.
struct Column {
  const char* table;
  std::string name;
};
constexpr const char* kTables[] = {"night", "environment", "run",        "device",   "calibration",
                                   "item",  "subject",     "conclusion", "command",  "outcome",
                                   "seen",  "series",      "value",      "mutation", "lines"};

using Handle = std::unique_ptr<sqlite3, decltype(&sqlite3_close)>;

Handle open(const Bytes& bytes) {
  sqlite3* raw = nullptr;
  sqlite3_open(":memory:", &raw);
  Handle handle(raw, &sqlite3_close);
  auto* copy = static_cast<unsigned char*>(sqlite3_malloc64(bytes.size()));
  std::copy(bytes.begin(), bytes.end(), copy);
  const auto size = static_cast<sqlite3_int64>(bytes.size());
  sqlite3_deserialize(raw, "main", copy, size, size, SQLITE_DESERIALIZE_FREEONCLOSE | SQLITE_DESERIALIZE_RESIZEABLE);
  return handle;
}

Bytes close(const Handle& handle) {
  sqlite3_int64 size = 0;
  unsigned char* data = sqlite3_serialize(handle.get(), "main", &size, 0);
  Bytes bytes(data, data + size);
  sqlite3_free(data);
  return bytes;
}

/// The first column of every row of a query.
std::vector<std::string> namesOf(const Handle& handle, const std::string& sql) {
  std::vector<std::string> names;
  sqlite3_exec(
      handle.get(), sql.c_str(),
      [](void* list, int, char** cells, char**) {
        static_cast<std::vector<std::string>*>(list)->emplace_back(cells[0] ? cells[0] : "");
        return 0;
      },
      &names, nullptr);
  return names;
}

std::string literalOf(const std::string& text) {
  std::string literal = "CAST(x'";
  for (const char c : text.substr(0, 3000)) literal += fmt::format("{:02x}", static_cast<unsigned char>(c));
  return literal + "' AS TEXT)";
}

std::string hostileLiteral(std::mt19937_64& random) {
  constexpr const char* kLiterals[] = {"NULL",
                                       "0",
                                       "-1",
                                       "1",
                                       "2",
                                       "99",
                                       "1 << 31",
                                       "1 << 26",
                                       "-(1 << 62)",
                                       "9223372036854775807",
                                       "1e308",
                                       "-1e308",
                                       "9e999",
                                       "0.5",
                                       "1e-320",
                                       "x'00ff'",
                                       "zeroblob(100000)",
                                       "'fail'",
                                       "'status'",
                                       "'2026-01-02T00:00:00Z'"};
  if (random() % 4 == 0) return literalOf(hostileWord(random));
  return kLiterals[below(std::size(kLiterals), random)];
}

/// A row or, now and then, all.
std::string rowsOf(const std::string& table, const std::string& column, std::mt19937_64& random) {
  if (random() % 4 == 0) return "";
  return fmt::format(" WHERE {0} IS (SELECT {0} FROM {1} LIMIT 1 OFFSET {2} % (SELECT max(1, count(*)) FROM {1}))",
                     column, table, random() % 1000);
}

std::string damageOfRows(const Handle& handle, std::mt19937_64& random) {
  const std::string table = kTables[below(std::size(kTables), random)];
  const auto columns = namesOf(handle, fmt::format("SELECT name FROM pragma_table_info('{}')", table));
  if (columns.empty()) return "PRAGMA user_version = 3";
  const std::string &column = columns[below(columns.size(), random)], &other = columns[below(columns.size(), random)];
  const std::string rows = rowsOf(table, other, random);
  switch (random() % 8) {
    case 0: return fmt::format("DELETE FROM {}{}", table, rows);
    case 1:
      return fmt::format(
          "UPDATE OR IGNORE {0} SET {1} = (SELECT {1} FROM {0} LIMIT 1 OFFSET {2} % (SELECT max(1, count(*)) FROM "
          "{0})){3}",
          table, column, random() % 1000, rows);
    case 2: return fmt::format("UPDATE OR REPLACE {0} SET {1} = {2}{3}", table, column, other, rows);
    case 3: return fmt::format("UPDATE OR IGNORE {0} SET {1} = {1} + 1{2}", table, column, rows);
    default: return fmt::format("UPDATE OR REPLACE {} SET {} = {}{}", table, column, hostileLiteral(random), rows);
  }
}

std::string damageOfSchema(const Handle& handle, std::mt19937_64& random) {
  const std::string table = kTables[below(std::size(kTables), random)];
  const auto columns = namesOf(handle, fmt::format("SELECT name FROM pragma_table_info('{}')", table));
  const auto others = namesOf(handle, "SELECT type || ' ' || name FROM sqlite_schema WHERE sql IS NOT NULL");
  const std::string column = columns.empty() ? "id" : columns[below(columns.size(), random)];
  switch (random() % 6) {
    case 0: return "DROP " + others[below(others.size(), random)];
    case 1: return fmt::format("ALTER TABLE {} RENAME COLUMN {} TO other", table, column);
    case 2: return fmt::format("ALTER TABLE {} DROP COLUMN {}", table, column);
    case 3: return fmt::format("PRAGMA user_version = {}", random() % 4);
    case 4: return fmt::format("ALTER TABLE {0} RENAME TO t; CREATE VIEW {0} AS SELECT * FROM t", table);
    default: return fmt::format("CREATE TRIGGER t AFTER INSERT ON {0} BEGIN DELETE FROM {0}; END", table);
  }
}

}  // namespace

Mutant mutateHistory(const Bytes& original, std::mt19937_64& random) {
  if (random() % 3 == 0) return mutate(original, random);
  const Handle handle = open(original);
  sqlite3_exec(handle.get(), "PRAGMA foreign_keys = OFF", nullptr, nullptr, nullptr);
  Mutant mutant;
  for (size_t i = 0; i <= random() % 2; ++i) {
    const std::string sql = random() % 8 == 0 ? damageOfSchema(handle, random) : damageOfRows(handle, random);
    sqlite3_exec(handle.get(), sql.c_str(), nullptr, nullptr, nullptr);  // what SQLite refuses changes nothing
    mutant.what += sql.substr(0, 200) + "; ";
  }
  mutant.bytes = close(handle);
  return mutant;
}

}  // namespace opkit::fuzz
