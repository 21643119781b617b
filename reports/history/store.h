// Store: the history of results in one SQLite file. reports/schema.sql is its form, docs/history.md its page.
//
// Adding runs is one transaction: after a kill, a full disk or an error the file is as before. Runs that the store has
// are left out, so that adding a file twice changes nothing. Used by one thread; several processes may use one file.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "reports/history/sqlite.h"
#include "reports/results/reader.h"

namespace opkit::reports {

/// Runs of one commit under one name, in the order of their first run.
struct Night {
  std::string name, commit;
  bool dirty = false;
  int64_t at = 0;  // seconds since 1970, of its first run
};

/// The surroundings of a measurement. Rates are medians over the night's runs, 0 if not measured.
struct Environment {
  std::string host, cpu, os, compiler, build, driver;
  double loopNs = 0, copyBytesPerNs = 0, flopsPerNs = 0, bytesPerNs = 0;
};

struct SeriesKey {
  std::string kind, caseId, op, dtype, backend, device, uuid, machine, driver, options;
  std::string provider;  // empty for "status", which belongs to the case
  std::string metric;    // a time ("executeWall") or a name of exactMetrics()
};

/// The values of one night: one per process run.
struct Point {
  uint32_t night = 0;        // index into Store::nights()
  uint32_t environment = 0;  // index into Store::environments()
  uint32_t first = 0, count = 0;
};

struct Series {
  SeriesKey key;
  std::vector<Point> points;  // ordered by night
  std::vector<double> values;
  size_t alike = 1;  // exact series of the case for which this one stands

  std::span<const double> at(const Point& point) const { return std::span(values).subspan(point.first, point.count); }
};

/// Empty fields choose everything.
struct SeriesFilter {
  std::string op, backend, kind, caseId;
  std::vector<std::string> metrics;
  size_t recentNights = 0;  // only what was measured on one of so many last nights of its device and options; 0: all
  bool fold = false;  // one exact series in place of those of a case on which no night and no driver ever differed
};

/// Names of the metrics that are no times: status (0 is pass, else a failure's rank), margin, maxUlp, maxAbs, nmse,
/// shaderBytes, arenaBytes, allocations, dispatches, bits (equal values are equal bits).
const std::vector<std::string>& exactMetrics();

/// The rank of a status in series: larger is worse. Unsupported, skipped and unproved cases have none.
std::optional<int> rankOf(CaseStatus status);
/// Whether a change of status is news: a known flake may pass and fail.
bool isNews(CaseStatus before, CaseStatus after);

struct AddOptions {
  bool acceptClock = false;  // take runs that are dated more than a day ahead of this machine's clock
};

struct AddReport {
  size_t added = 0, grown = 0, known = 0;  // runs
  std::vector<std::string> notes;
};

class Store {
 public:
  /// InvalidArgument or Corrupt names the file: not a history, of another version, not readable or writable, damaged.
  static Result<Store> open(const std::string& path, Database::Mode mode);

  /// Adds the runs of result files, given in their order, read with ReadOptions::keepLines; all or none.
  /// InvalidArgument if a run has a known id but other content, or is dated ahead of the clock.
  Result<AddReport> add(const std::vector<Results>& files, const AddOptions& options = {});
  /// The same on a file that is made if there is none, and removed again if that failed.
  static Result<AddReport> addTo(const std::string& path, const std::vector<Results>& files,
                                 const AddOptions& options = {});

  /// In order: by the time of the first run, then by name.
  Result<std::vector<Night>> nights() const;
  /// Values of all runs, by series and night. `environments` receives what Point::environment refers to.
  Result<std::vector<Series>> series(const SeriesFilter& filter, std::vector<Environment>& environments) const;
  /// The newest night, as readResults reads its lines; of plain passes (common.h) only what the tables hold.
  Result<Results> newest() const;

  const Database& database() const { return database_; }
  /// Names the nights that open() left out.
  const std::vector<std::string>& notes() const { return notes_; }

 private:
  explicit Store(Database database) : database_(std::move(database)) {}
  Status prepare(Database::Mode mode);
  Status prepareToRead();
  Status addPlainPasses(Results& results) const;

  Database database_;
  std::vector<std::string> notes_;
};

}  // namespace opkit::reports
