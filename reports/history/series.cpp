// Store::series: values by series and night, in two passes over the tables in the order of their keys.
#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <thread>

#include "engine/base/guard.h"
#include "reports/detect/student.h"
#include "reports/history/outcomes.h"
#include "reports/history/recent.h"
#include "reports/history/store.h"

namespace opkit::reports {
namespace {

constexpr size_t kManySeries = 1000;  // for which threads pay
constexpr size_t kMostThreads = 4;
constexpr const char* kRange = "SELECT series, run, value FROM value WHERE series BETWEEN ? AND ?";
constexpr uint32_t kNone = ~uint32_t{0};

/// Values of one series before they are sorted into nights.
struct Sample {
  uint32_t night = 0;
  int64_t run = 0;
  double value = 0;
};

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return names.empty() || std::find(names.begin(), names.end(), name) != names.end();
}

class Loader {
 public:
  Loader(const Database& database, const SeriesFilter& filter, std::vector<Environment>& environments)
      : database_(database), filter_(filter), environments_(environments) {}

  Result<std::vector<Series>> load() {
    OPKIT_TRY(database_.execute("BEGIN"));
    const Status status = loadAll();
    const Status ended = database_.execute("COMMIT");  // fails, too, if SQLite has rolled back
    OPKIT_TRY(status);
    OPKIT_TRY(ended);
    return std::move(series_);
  }

 private:
  /// In one transaction, so that the tables agree.
  Status loadAll() {
    OPKIT_TRY(readRuns());
    OPKIT_TRY(readEnvironments());
    OPKIT_TRY(readSubjects());
    OPKIT_TRY(readTimes());
    return wantsExact() ? readExact() : Status::ok();
  }

  template <class Body>
  Status each(const std::string& sql, Body&& body) {
    OPKIT_ASSIGN(Statement rows, database_.prepare(sql));
    while (true) {
      OPKIT_ASSIGN(const bool more, rows.step());
      if (!more) return Status::ok();
      body(rows);
    }
  }

  /// Runs and nights have small ids: vectors indexed by them.
  Status readRuns() {
    std::map<int64_t, uint32_t> order;
    OPKIT_TRY(
        each("SELECT night.id FROM night JOIN run ON run.night = night.id GROUP BY night.id ORDER BY min(at), "
             "night.name, commit_id, dirty",
             [&](Statement& row) { order.emplace(row.integer(0), static_cast<uint32_t>(order.size())); }));
    return each("SELECT id, night FROM run", [&](Statement& row) {
      const auto id = static_cast<size_t>(row.integer(0));
      if (runs_.size() <= id) runs_.resize(id + 1, kNone);
      runs_[id] = order[row.integer(1)];
    });
  }

  /// One per night and device; rates are the medians over the runs.
  Status readEnvironments() {
    std::map<uint32_t, std::array<std::vector<double>, 4>> rates;
    OPKIT_TRY(each(
        "SELECT calibration.run, device, driver, host, cpu, os, compiler, build, loop_ns, copy_bytes_per_ns, "
        "flops_per_ns, bytes_per_ns FROM calibration JOIN run ON run.id = calibration.run JOIN environment ON "
        "environment.id = run.environment JOIN device ON device.id = calibration.device ORDER BY at, run.id",
        [&](Statement& row) {
          uint32_t& index = placeOf(runs_[static_cast<size_t>(row.integer(0))], row.integer(1));
          if (index == kNone) {
            index = static_cast<uint32_t>(environments_.size());
            environments_.push_back({row.text(3), row.text(4), row.text(5), row.text(6), row.text(7), row.text(2)});
          }
          for (int i = 0; i < 4; ++i)
            if (!row.isNull(i + 8)) rates[index][static_cast<size_t>(i)].push_back(row.real(i + 8));
        }));
    for (auto& [index, all] : rates) {
      Environment& environment = environments_[index];
      double* const fields[] = {&environment.loopNs, &environment.copyBytesPerNs, &environment.flopsPerNs,
                                &environment.bytesPerNs};
      for (size_t i = 0; i < 4; ++i) *fields[i] = all[i].empty() ? 0 : detect::medianInPlace(all[i]);
    }
    return Status::ok();
  }

  /// The index of the environment of a night on a device.
  uint32_t& placeOf(uint32_t night, int64_t device) {
    const auto column = static_cast<size_t>(device);
    if (places_.size() <= column) places_.resize(column + 1);
    if (places_[column].size() <= night) places_[column].resize(night + 1, kNone);
    return places_[column][night];
  }

  Status readSubjects() {
    const std::string sql = fmt::format(
        "SELECT subject.id, kind, case_id, op, dtype, options, device.id, backend, name, uuid, machine, driver, item "
        "FROM "
        "subject JOIN item ON item.id = subject.item JOIN device ON device.id = subject.device WHERE (?1 IN ('', op)) "
        "AND "
        "(?2 IN ('', backend)) AND (?3 IN ('', kind)) AND (?4 IN ('', case_id)){}",
        filter_.recentNights > 0 ? " AND subject.id = ?5" : "");
    OPKIT_ASSIGN(Statement rows, database_.prepare(sql));
    if (filter_.recentNights == 0) {
      rows.bind(filter_.op, filter_.backend, filter_.kind, filter_.caseId);
      return addSubjects(rows);
    }
    OPKIT_ASSIGN(const std::set<int64_t> recent, recentSubjects(database_, runs_, filter_.recentNights));
    for (const int64_t subject : recent) {
      rows.bind(filter_.op, filter_.backend, filter_.kind, filter_.caseId, subject);
      OPKIT_TRY(addSubjects(rows));
    }
    return Status::ok();
  }

  Status addSubjects(Statement& rows) {
    while (true) {
      OPKIT_ASSIGN(const bool more, rows.step());
      if (!more) return Status::ok();
      const auto id = static_cast<size_t>(rows.integer(0));
      if (slots_.size() <= id) slots_.resize(id + 1, kNone);
      slots_[id] = static_cast<uint32_t>(subjects_.size());
      Subject& subject = subjects_.emplace_back();
      subject.id = rows.integer(0);
      SeriesKey& key = subject.key;
      key.kind = rows.text(1), key.caseId = rows.text(2), key.op = rows.text(3), key.dtype = rows.text(4);
      key.options = rows.text(5), key.backend = rows.text(7), key.device = rows.text(8);
      key.uuid = rows.text(9), key.machine = rows.text(10), key.driver = rows.text(11);
      subject.device = rows.integer(6);
      const auto site = sites_.try_emplace({key.backend, key.device, key.uuid, key.machine, key.options}, id).first;
      subject.group = groups_.try_emplace({rows.integer(12), site->second}, groups_.size()).first->second;
    }
  }

  struct Time {
    size_t subject = 0;
    std::string provider, metric;
  };
  using Times = std::map<int64_t, Time>;  // by id of the series
  struct Found {
    size_t subject = 0;
    Series series;
  };

  Status readTimes() {
    Times times;
    size_t known = 0;
    OPKIT_TRY(each("SELECT id, subject, provider, metric FROM series", [&](Statement& row) {
      ++known;
      const uint32_t subject = slotOf(row.integer(1));
      if (subject != kNone && contains(filter_.metrics, row.text(3)))
        times[row.integer(0)] = {subject, row.text(2), row.text(3)};
    }));
    if (times.size() * 2 > known && times.size() >= kManySeries) return scanInThreads(times);
    std::vector<Found> found;
    OPKIT_ASSIGN(Statement rows, database_.prepare(kRange));
    for (auto time = times.begin(); time != times.end(); ++time)
      OPKIT_TRY(scan(rows.bind(time->first, time->first), times, found));
    keep(found);
    return Status::ok();
  }

  /// Equal parts of the series, each on a connection of its own. Rows of runs that were added meanwhile are left out.
  Status scanInThreads(const Times& times) {
    const size_t count = std::clamp<size_t>(std::thread::hardware_concurrency(), 1, kMostThreads);
    std::vector<int64_t> ids;
    for (const auto& [id, time] : times) ids.push_back(id);
    std::vector<std::vector<Found>> found(count);
    std::vector<Status> statuses(count);
    {
      std::vector<std::jthread> threads;
      for (size_t i = 0; i < count; ++i)
        threads.emplace_back([&, i] {
          const int64_t first = ids[i * ids.size() / count], last = ids[(i + 1) * ids.size() / count - 1];
          const auto part = [&]() -> Status {
            OPKIT_ASSIGN(const Database database, Database::open(database_.path(), Database::Mode::Read));
            OPKIT_ASSIGN(Statement rows, database.prepare(kRange));
            return scan(rows.bind(first, last), times, found[i]);
          };
          statuses[i] = guarded(part);
        });
    }
    for (const Status& status : statuses) OPKIT_TRY(status);
    for (std::vector<Found>& part : found) keep(part);
    return Status::ok();
  }

  /// The series of `rows`, which come by series and run.
  Status scan(Statement& rows, const Times& times, std::vector<Found>& found) const {
    std::vector<Sample> samples;
    int64_t current = -1;
    const auto flush = [&] {
      const auto time = times.find(current);
      if (time != times.end() && !samples.empty())
        found.push_back({time->second.subject,
                         seriesOf(time->second.subject, time->second.provider, time->second.metric, samples)});
      samples.clear();
    };
    while (true) {
      OPKIT_ASSIGN(const bool more, rows.step());
      if (!more) break;
      if (rows.integer(0) != current) {
        flush();
        current = rows.integer(0);
      }
      const uint32_t night = nightOf(rows.integer(1));
      if (night != kNone) samples.push_back({night, rows.integer(1), rows.real(2)});
    }
    flush();
    return Status::ok();
  }

  /// The night of a run; kNone if the run is not read.
  uint32_t nightOf(int64_t run) const {
    return static_cast<size_t>(run) < runs_.size() ? runs_[static_cast<size_t>(run)] : kNone;
  }

  /// The place in subjects_; kNone if it is not wanted.
  uint32_t slotOf(int64_t subject) const {
    return static_cast<size_t>(subject) < slots_.size() ? slots_[static_cast<size_t>(subject)] : kNone;
  }

  bool wantsExact() const {
    const std::vector<std::string>& all = exactMetrics();
    return std::any_of(all.begin(), all.end(),
                       [&](const std::string& name) { return contains(filter_.metrics, name); });
  }

  Status readExact() {
    std::vector<int64_t> ids;
    std::vector<size_t> groups;
    for (const Subject& subject : subjects_) ids.push_back(subject.id), groups.push_back(subject.group);
    OPKIT_ASSIGN(const Outcomes outcomes, Outcomes::read(database_, ids));
    const std::vector<Folded> folded = filter_.fold ? outcomes.fold(groups) : std::vector<Folded>(groups.size());
    struct Seen {
      uint32_t subject = 0, outcome = 0, run = 0;
    };
    std::vector<Seen> seen;
    bool isDamaged = false;
    OPKIT_TRY(each("SELECT run, subject, variant FROM seen", [&](Statement& row) {
      const uint32_t subject = slotOf(row.integer(1));
      if (subject == kNone || nightOf(row.integer(0)) == kNone) return;
      const auto variant = static_cast<size_t>(row.integer(2));
      isDamaged = isDamaged || variant >= outcomes.count(subject);
      if (isDamaged) return;
      const size_t outcome = outcomes.indexOf(subject, variant);
      seen.push_back({subject, static_cast<uint32_t>(outcome), static_cast<uint32_t>(row.integer(0))});
    }));
    if (isDamaged)
      return Status::corrupt("{}: the database is damaged: a row of 'seen' has no outcome", database_.path());
    std::stable_sort(seen.begin(), seen.end(), [](const Seen& a, const Seen& b) { return a.subject < b.subject; });
    for (size_t metric = 0; metric < kExactMetrics; ++metric) {
      const std::string& name = exactMetrics()[metric];
      if (!contains(filter_.metrics, name)) continue;
      for (size_t begin = 0, end = 0; begin < seen.size(); begin = end) {
        const uint32_t subject = seen[begin].subject;
        const auto isOther = [&](const Seen& one) { return one.subject != subject; };
        end = static_cast<size_t>(std::find_if(seen.begin() + static_cast<std::ptrdiff_t>(begin), seen.end(), isOther) -
                                  seen.begin());
        if (folded[subject].alike > 0 && folded[subject].metric != metric) continue;
        std::map<std::string, std::vector<Sample>> byProvider;
        for (size_t i = begin; i < end; ++i) {
          const Outcome& outcome = outcomes[seen[i].outcome];
          if (std::isnan(outcome.values[metric])) continue;
          byProvider[metric == 0 ? std::string() : outcome.provider].push_back(
              {runs_[seen[i].run], seen[i].run, outcome.values[metric]});
        }
        for (auto& [provider, samples] : byProvider) {
          Found found{subject, seriesOf(subject, provider, name, samples)};
          found.series.alike = std::max<size_t>(folded[subject].alike, 1);
          keep(std::move(found));
        }
      }
    }
    return Status::ok();
  }

  /// Without environments.
  Series seriesOf(size_t subject, const std::string& provider, const std::string& metric,
                  std::vector<Sample>& samples) const {
    const auto before = [](const Sample& a, const Sample& b) {
      return a.night != b.night ? a.night < b.night : a.run < b.run;
    };
    if (!std::is_sorted(samples.begin(), samples.end(), before)) std::sort(samples.begin(), samples.end(), before);
    Series series;
    series.key = subjects_[subject].key;
    series.key.provider = provider;
    series.key.metric = metric;
    series.values.reserve(samples.size());
    for (const Sample& sample : samples) {
      if (series.points.empty() || series.points.back().night != sample.night)
        series.points.push_back({sample.night, 0, static_cast<uint32_t>(series.values.size()), 0});
      ++series.points.back().count;
      series.values.push_back(sample.value);
    }
    return series;
  }

  void keep(Found found) {
    for (Point& point : found.series.points)
      point.environment = environmentOf(point.night, subjects_[found.subject].device);
    series_.push_back(std::move(found.series));
  }
  void keep(std::vector<Found>& found) {
    for (Found& each : found) keep(std::move(each));
  }

  /// Every device of a case has a row in `calibration`; without one the environment is empty.
  uint32_t environmentOf(uint32_t night, int64_t device) {
    uint32_t& index = placeOf(night, device);
    if (index != kNone) return index;
    index = static_cast<uint32_t>(environments_.size());
    environments_.emplace_back();
    return index;
  }

  struct Subject {
    int64_t id = 0;
    SeriesKey key;
    int64_t device = 0;
    size_t group = 0;  // of subjects that differ in the driver alone
  };

  const Database& database_;
  const SeriesFilter& filter_;
  std::vector<Environment>& environments_;
  std::vector<uint32_t> runs_;                 // the night, by id
  std::vector<std::vector<uint32_t>> places_;  // environments, by id of the device and night
  std::vector<Subject> subjects_;              // that are wanted
  std::vector<uint32_t> slots_;                // in subjects_, by id
  std::map<std::array<std::string, 5>, size_t> sites_;
  std::map<std::pair<int64_t, size_t>, size_t> groups_;  // by item and site
  std::vector<Series> series_;
};

}  // namespace

const std::vector<std::string>& exactMetrics() {
  static const std::vector<std::string> names = {"status",      "margin",     "maxUlp",      "maxAbs",     "nmse",
                                                 "shaderBytes", "arenaBytes", "allocations", "dispatches", "bits"};
  return names;
}

std::optional<int> rankOf(CaseStatus status) {
  switch (status) {
    case CaseStatus::Pass: return 0;
    case CaseStatus::Unexpected: return 1;  // a pass too
    case CaseStatus::Flake: return 2;
    case CaseStatus::Expected: return 3;
    case CaseStatus::Mistrusted: return 4;
    case CaseStatus::Fallback: return 5;
    case CaseStatus::Refused: return 6;
    case CaseStatus::Leak: return 7;
    case CaseStatus::Unstable: return 8;
    case CaseStatus::Fail: return 9;
    case CaseStatus::Hang: return 10;
    case CaseStatus::Crash: return 11;
    default: return std::nullopt;
  }
}

bool isNews(CaseStatus before, CaseStatus after) {
  const auto plain = [](CaseStatus status) { return status == CaseStatus::Flake ? CaseStatus::Pass : status; };
  return plain(before) != plain(after);
}

Result<std::vector<Series>> Store::series(const SeriesFilter& filter, std::vector<Environment>& environments) const {
  environments.clear();
  return Loader(database_, filter, environments).load();
}

}  // namespace opkit::reports
