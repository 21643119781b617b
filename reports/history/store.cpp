#include "reports/history/store.h"

#include <zlib.h>

#include <ctime>
#include <filesystem>
#include <set>
#include <sstream>

#include "engine/base/guard.h"
#include "engine/base/interrupt.h"
#include "reports/history/adder.h"
#include "reports/history/migrate.h"
#include "reports/history/row_check.h"
#include "reports/history_schema.h"

namespace opkit::reports {
namespace {

constexpr int64_t kApplication = 0x4F504B54;
constexpr int64_t kVersion = 2;
constexpr int kKeptNights = 2;             // whose lines are kept
constexpr int kWriteCacheKb = 128 * 1024;  // a night's values lie on as many pages as there are series

Result<int64_t> pragma(const Database& database, const char* name) {
  OPKIT_ASSIGN(Statement statement, database.prepare(fmt::format("PRAGMA {}", name)));
  OPKIT_TRY(statement.step().error());
  return statement.integer(0);
}

/// Rolls back unless committed.
class Transaction {
 public:
  explicit Transaction(const Database& database) : database_(database) {}
  ~Transaction() {
    if (open_) static_cast<void>(database_.execute("ROLLBACK"));
  }
  Status begin() {
    OPKIT_TRY(database_.execute("BEGIN IMMEDIATE"));
    open_ = true;
    return Status::ok();
  }
  Status commit() {
    OPKIT_TRY(database_.execute("COMMIT"));
    open_ = false;
    return Status::ok();
  }

 private:
  const Database& database_;
  bool open_ = false;
};

/// Seconds since 1970 of "2026-01-31T12:00:00Z"; nothing for another text.
std::optional<int64_t> secondsOf(const std::string& text) {
  std::tm parts = {};
  const char* end = strptime(text.c_str(), "%Y-%m-%dT%H:%M:%SZ", &parts);
  if (!end || *end) return std::nullopt;
  return static_cast<int64_t>(timegm(&parts));
}

/// Times of the runs of one file. On one host a run began after those above it, whatever the clock said.
class Clock {
 public:
  int64_t timeOf(const Run& run, AddReport& report) {
    const RunRecord& facts = run.facts;
    const auto started = secondsOf(facts.started);
    if (!started) report.notes.push_back(fmt::format("run {} has no time; it counts as started in 1970", facts.run));
    const auto [last, isFirst] = last_.try_emplace(facts.host, started.value_or(0));
    if (!isFirst && started && *started < last->second)
      report.notes.push_back(
          fmt::format("run {} began {} s before the run above it in its file: the clock went backwards; the file's "
                      "order is kept",
                      facts.run, last->second - *started));
    last->second = std::max(last->second, started.value_or(last->second));
    const auto ended = secondsOf(run.ended);
    if (started && ended && *ended < *started)
      report.notes.push_back(
          fmt::format("run {} ended {} s before it began: the clock went backwards", facts.run, *started - *ended));
    return last->second;
  }

 private:
  std::map<std::string, int64_t> last_;  // by host
};

/// Runs that are dated ahead of the clock keep their lines, and count as no night.
Status pruneLines(const Database& database) {
  return database.execute(fmt::format(
      "DELETE FROM lines WHERE run NOT IN (SELECT run.id FROM run JOIN night ON night.id = run.night WHERE at > {0} OR "
      "night.name IN (SELECT night.name FROM night JOIN run ON run.night = night.id WHERE at <= {0} GROUP BY "
      "night.name "
      "ORDER BY max(at) DESC, night.name DESC LIMIT {1}))",
      latestTime(), kKeptNights));
}

/// Removes a history without a table, which `add` could not fill. Another program may have filled it meanwhile.
void removeIfEmpty(const std::string& path) {
  std::error_code ignored;
  {
    const auto database = Database::open(path, Database::Mode::Read);  // a journal that could not be removed is applied
    if (database) static_cast<void>(pragma(*database, "schema_version"));
  }
  if (std::filesystem::file_size(path, ignored) == 0) std::filesystem::remove(path, ignored);
}

Result<std::string> expanded(std::string_view bytes, size_t size) {
  constexpr size_t kMostRatio = 1040;  // of deflate
  if (size > kMostRatio * (bytes.size() + 1)) return Status::corrupt("the kept lines of a run are damaged");
  std::string text(size, '\0');
  uLongf length = size;
  const int code = uncompress(reinterpret_cast<Bytef*>(text.data()), &length,
                              reinterpret_cast<const Bytef*>(bytes.data()), bytes.size());
  if (code != Z_OK || length != size) return Status::corrupt("the kept lines of a run are damaged");
  return text;
}

/// The columns that Store::addPlainPasses selects.
CaseRecord passOf(const Statement& row) {
  CaseRecord one;
  one.kind = row.text(0), one.id = row.text(1), one.op = row.text(2), one.dtype = row.text(3);
  one.backend = row.text(4), one.device = row.text(5), one.provider = row.text(6), one.kernel = row.text(7);
  if (!row.isNull(8)) {
    AccuracyRecord& errors = one.accuracy.emplace();
    errors.margin = row.real(8), errors.maxUlp = row.real(9), errors.maxAbs = row.real(10), errors.nmse = row.real(11);
  }
  one.digest = row.text(12), one.shader = row.text(13);
  const auto count = [&](int column) { return static_cast<size_t>(row.integer(column)); };
  one.shaderBytes = count(14), one.arenaBytes = count(15), one.allocations = count(16), one.dispatches = count(17);
  one.durationNs = 1e3 * static_cast<double>(row.integer(18));
  one.repro = row.text(19);
  return one;
}

}  // namespace

Status Store::prepare(Database::Mode mode) {
  const std::string& path = database_.path();
  OPKIT_ASSIGN(const int64_t application, pragma(database_, "application_id"));
  OPKIT_ASSIGN(const int64_t version, pragma(database_, "user_version"));
  OPKIT_ASSIGN(const int64_t changes, pragma(database_, "schema_version"));
  if (application == 0 && version == 0 && changes == 0) {
    if (mode == Database::Mode::Read) return Status::invalidArgument("{}: the history is empty", path);
    OPKIT_TRY(database_.execute(kHistorySchema));
    return database_.execute(
        fmt::format("PRAGMA application_id = {}; PRAGMA user_version = {}", kApplication, kVersion));
  }
  if (application != kApplication)
    return Status::corrupt("{}: expected a history of `op-report add`, found an SQLite file of another program", path);
  if (version == kVersion) return Status::ok();
  if (version < 1 || version > kVersion)
    return Status::unsupported("{}: expected a history of version 1 or {}, found {}", path, kVersion, version);
  if (mode == Database::Mode::Read) {
    OPKIT_ASSIGN(database_, database_.copy());
  }
  OPKIT_TRY(migrateFromVersion1(database_));
  return database_.execute(fmt::format("PRAGMA user_version = {}", kVersion));
}

Status Store::prepareToRead() {
  OPKIT_TRY(prepare(Database::Mode::Read));
  OPKIT_TRY(checkRows(database_));
  OPKIT_ASSIGN(const std::vector<std::string> ahead, hideRunsAhead(database_));
  for (const std::string& night : ahead)
    notes_.push_back(fmt::format("night {} is dated ahead of this machine's clock; its runs are left out", night));
  return Status::ok();
}

Result<Store> Store::open(const std::string& path, Database::Mode mode) {
  OPKIT_ASSIGN(Database database, Database::open(path, mode));
  Store store(std::move(database));
  if (mode == Database::Mode::Read) OPKIT_TRY(store.prepareToRead());
  if (mode == Database::Mode::Write)
    OPKIT_TRY(store.database_.execute(fmt::format("PRAGMA cache_size = -{}", kWriteCacheKb)));
  return store;
}

Result<AddReport> Store::add(const std::vector<Results>& files, const AddOptions& options) {
  Transaction transaction(database_);
  OPKIT_TRY(transaction.begin());
  OPKIT_TRY(prepare(Database::Mode::Write));
  OPKIT_TRY(checkRows(database_));
  AddReport report;
  {
    OPKIT_ASSIGN(Adder adder, Adder::create(database_));
    for (const Results& file : files) {
      Clock clock;
      for (const RunRecords& records : byRun(file)) {
        if (interrupted()) return Status::invalidArgument("interrupted; nothing was added");
        const int64_t at = clock.timeOf(*records.run, report);
        const size_t known = report.known;
        OPKIT_TRY(adder.add(records, at, report));
        if (at > latestTime() && report.known == known && !options.acceptClock)
          return Status::invalidArgument(
              "run {} is dated {}, more than a day ahead of this machine's clock; nothing was added (--accept-clock "
              "adds "
              "it; it is read when its time has come)",
              records.run->facts.run, records.run->facts.started);
      }
    }
  }
  if (report.added + report.grown > 0) OPKIT_TRY(pruneLines(database_));
  OPKIT_TRY(transaction.commit());
  return report;
}

Result<AddReport> Store::addTo(const std::string& path, const std::vector<Results>& files, const AddOptions& options) {
  std::error_code error;
  const bool existed = std::filesystem::exists(path, error) || error;
  const auto attempt = [&]() -> Result<AddReport> {
    OPKIT_ASSIGN(Store store, open(path, Database::Mode::Write));
    return store.add(files, options);
  };
  auto report = guarded(attempt);
  if (!report && !existed) removeIfEmpty(path);
  return report;
}

Result<std::vector<Night>> Store::nights() const {
  OPKIT_ASSIGN(Statement rows, database_.prepare("SELECT night.name, commit_id, dirty, min(at) FROM night JOIN run ON "
                                                 "run.night = night.id GROUP BY night.id ORDER BY 4, 1, 2, 3"));
  std::vector<Night> nights;
  while (true) {
    OPKIT_ASSIGN(const bool more, rows.step());
    if (!more) return nights;
    nights.push_back({rows.text(0), rows.text(1), rows.integer(2) != 0, rows.integer(3)});
  }
}

Result<Results> Store::newest() const {
  OPKIT_ASSIGN(
      Statement rows,
      database_.prepare("SELECT bytes, text FROM lines JOIN run ON run.id = lines.run WHERE night = (SELECT "
                        "night FROM run JOIN lines ON lines.run = run.id GROUP BY night ORDER BY min(at) DESC, "
                        "night DESC LIMIT 1) ORDER BY at, run.id"));
  std::string text;
  while (true) {
    OPKIT_ASSIGN(const bool more, rows.step());
    if (!more) break;
    OPKIT_ASSIGN(const std::string lines, expanded(rows.blob(1), static_cast<size_t>(rows.integer(0))));
    text += lines;
  }
  Results results;
  std::istringstream stream(text);
  OPKIT_TRY(readResults(stream, database_.path(), results, {}));
  OPKIT_TRY(addPlainPasses(results));
  return results;
}

/// Lines of plain passes are not kept: the tables have what the page shows.
Status Store::addPlainPasses(Results& results) const {
  const auto keyOf = [](const CaseRecord& one) { return one.kind + "\n" + one.backend + "\n" + one.id; };
  OPKIT_ASSIGN(Statement rows,
               database_.prepare("SELECT kind, case_id, op, dtype, backend, device, provider, kernel, margin, max_ulp, "
                                 "max_abs, nmse, bits, shader, shader_bytes, arena_bytes, allocations, dispatches, us, "
                                 "repro FROM results WHERE run = ? AND status = 'pass'"));
  OPKIT_ASSIGN(Statement written, database_.prepare("SELECT written FROM run WHERE name = ?"));
  for (Run& run : results.runs) {
    OPKIT_TRY(written.bind(run.facts.run).step().error());
    run.written = static_cast<size_t>(written.integer(0));
    std::set<std::string> known;
    for (const CaseRecord& one : results.cases)
      if (one.run == run.facts.run) known.insert(keyOf(one));
    rows.bind(run.facts.run);
    while (true) {
      OPKIT_ASSIGN(const bool more, rows.step());
      if (!more) break;
      CaseRecord one = passOf(rows);
      if (known.contains(keyOf(one))) continue;
      one.run = run.facts.run;
      results.cases.push_back(std::move(one));
    }
  }
  return Status::ok();
}

}  // namespace opkit::reports
