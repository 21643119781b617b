// Store::series: values by series and night, in two passes over the tables in the order of their keys.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>

#include "reports/history/store.h"

namespace opkit::reports {
namespace {

constexpr size_t kMetrics = 10;
constexpr uint32_t kNone = ~uint32_t{0};

/// Values of one series before they are sorted into nights.
struct Sample {
  uint32_t night = 0;
  int64_t run = 0;
  double value = 0;
};

bool contains(const std::vector<std::string>& list, const std::string& name) {
  return list.empty() || std::find(list.begin(), list.end(), name) != list.end();
}

/// Digits of the bits' digest as a number: equal for equal digests, and exact in a double.
double numberOfBits(const std::string& digest) {
  return digest.size() < 13 ? NAN : static_cast<double>(std::strtoull(digest.substr(0, 13).c_str(), nullptr, 16));
}

class Loader {
 public:
  Loader(const Database& database, const SeriesFilter& filter, std::vector<Environment>& environments)
      : database_(database), filter_(filter), environments_(environments) {}

  Result<std::vector<Series>> load() {
    OPKIT_TRY(readRuns());
    OPKIT_TRY(readEnvironments());
    OPKIT_TRY(readSubjects());
    OPKIT_TRY(readTimes());
    if (wantsExact()) OPKIT_TRY(readExact());
    return std::move(series_);
  }

 private:
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
      if (runs_.size() <= id) runs_.resize(id + 1);
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
      for (size_t i = 0; i < 4; ++i) *fields[i] = medianOf(all[i]);
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

  static double medianOf(std::vector<double>& values) {
    if (values.empty()) return 0;
    std::sort(values.begin(), values.end());
    const size_t middle = values.size() / 2;
    return values.size() % 2 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
  }

  Status readSubjects() {
    return each(
        "SELECT subject.id, kind, case_id, op, dtype, options, device.id, backend, name, uuid, machine, driver "
        "FROM subject JOIN device ON device.id = subject.device",
        [&](Statement& row) {
          const auto id = static_cast<size_t>(row.integer(0));
          if (subjects_.size() <= id) subjects_.resize(id + 1);
          Subject& subject = subjects_[id];
          SeriesKey& key = subject.key;
          key.kind = row.text(1), key.caseId = row.text(2), key.op = row.text(3), key.dtype = row.text(4);
          key.options = row.text(5), key.backend = row.text(7), key.device = row.text(8);
          key.uuid = row.text(9), key.machine = row.text(10), key.driver = row.text(11);
          subject.device = row.integer(6);
          subject.wanted = (filter_.op.empty() || filter_.op == key.op) &&
                           (filter_.backend.empty() || filter_.backend == key.backend) &&
                           (filter_.kind.empty() || filter_.kind == key.kind) &&
                           (filter_.caseId.empty() || filter_.caseId == key.caseId);
        });
  }

  Status readTimes() {
    struct Time {
      size_t subject = 0;
      std::string provider, metric;
    };
    std::map<int64_t, Time> times;
    size_t known = 0;
    OPKIT_TRY(each("SELECT id, subject, provider, metric FROM series", [&](Statement& row) {
      ++known;
      const auto subject = static_cast<size_t>(row.integer(1));
      if (subjects_[subject].wanted && contains(filter_.metrics, row.text(3)))
        times[row.integer(0)] = {subject, row.text(2), row.text(3)};
    }));
    std::vector<Sample> samples;
    int64_t current = -1;
    const auto flush = [&] {
      const auto time = times.find(current);
      if (time != times.end() && !samples.empty())
        emit(time->second.subject, time->second.provider, time->second.metric, samples);
      samples.clear();
    };
    const auto take = [&](Statement& row) {
      if (row.integer(0) != current) {
        flush();
        current = row.integer(0);
      }
      samples.push_back({runs_[static_cast<size_t>(row.integer(1))], row.integer(1), row.real(2)});
    };
    if (times.empty()) return Status::ok();
    if (times.size() * 2 > known) {
      OPKIT_TRY(each("SELECT series, run, value FROM value", take));
    } else {
      OPKIT_ASSIGN(Statement rows, database_.prepare("SELECT series, run, value FROM value WHERE series = ?"));
      for (const auto& [id, time] : times) {
        rows.bind(id);
        for (Result<bool> more = rows.step();; more = rows.step()) {
          if (!more) return more.error();
          if (!*more) break;
          take(rows);
        }
      }
    }
    flush();
    return Status::ok();
  }

  bool wantsExact() const {
    const std::vector<std::string>& all = exactMetrics();
    return std::any_of(all.begin(), all.end(),
                       [&](const std::string& name) { return contains(filter_.metrics, name); });
  }

  Status readExact() {
    struct Outcome {
      uint32_t subject = 0;
      std::array<double, kMetrics> values{};
      std::string provider;
    };
    std::vector<Outcome> outcomes;
    OPKIT_TRY(
        each("SELECT id, subject, provider, status, margin, max_ulp, max_abs, nmse, shader_bytes, arena_bytes, "
             "allocations, dispatches, bits FROM outcome",
             [&](Statement& row) {
               const auto id = static_cast<size_t>(row.integer(0));
               if (outcomes.size() <= id) outcomes.resize(id + 1);
               Outcome& outcome = outcomes[id];
               outcome.subject = static_cast<uint32_t>(row.integer(1));
               outcome.provider = row.text(2);
               const auto status = statusFromName(row.text(3));
               const auto rank = status ? rankOf(*status) : std::nullopt;
               outcome.values[0] = rank ? *rank : NAN;
               for (int i = 1; i < 9; ++i)
                 outcome.values[static_cast<size_t>(i)] = row.isNull(i + 3) ? NAN : row.real(i + 3);
               outcome.values[9] = numberOfBits(row.text(12));
             }));
    struct Seen {
      uint32_t subject = 0, outcome = 0, run = 0;
    };
    std::vector<Seen> seen;
    OPKIT_TRY(each("SELECT run, outcome FROM seen", [&](Statement& row) {
      const auto outcome = static_cast<uint32_t>(row.integer(1));
      const uint32_t subject = outcomes[outcome].subject;
      if (subjects_[subject].wanted) seen.push_back({subject, outcome, static_cast<uint32_t>(row.integer(0))});
    }));
    std::stable_sort(seen.begin(), seen.end(), [](const Seen& a, const Seen& b) { return a.subject < b.subject; });
    for (size_t metric = 0; metric < kMetrics; ++metric) {
      const std::string& name = exactMetrics()[metric];
      if (!contains(filter_.metrics, name)) continue;
      for (size_t begin = 0, end = 0; begin < seen.size(); begin = end) {
        std::map<std::string, std::vector<Sample>> byProvider;
        for (end = begin; end < seen.size() && seen[end].subject == seen[begin].subject; ++end) {
          const Outcome& outcome = outcomes[seen[end].outcome];
          if (std::isnan(outcome.values[metric])) continue;
          byProvider[metric == 0 ? std::string() : outcome.provider].push_back(
              {runs_[seen[end].run], seen[end].run, outcome.values[metric]});
        }
        for (auto& [provider, samples] : byProvider) emit(seen[begin].subject, provider, name, samples);
      }
    }
    return Status::ok();
  }

  void emit(size_t subject, const std::string& provider, const std::string& metric, std::vector<Sample>& samples) {
    const auto before = [](const Sample& a, const Sample& b) {
      return a.night != b.night ? a.night < b.night : a.run < b.run;
    };
    if (!std::is_sorted(samples.begin(), samples.end(), before)) std::sort(samples.begin(), samples.end(), before);
    Series& series = series_.emplace_back();
    series.key = subjects_[subject].key;
    series.key.provider = provider;
    series.key.metric = metric;
    series.values.reserve(samples.size());
    for (const Sample& sample : samples) {
      if (series.points.empty() || series.points.back().night != sample.night)
        series.points.push_back({sample.night, environmentOf(sample.night, subjects_[subject].device),
                                 static_cast<uint32_t>(series.values.size()), 0});
      ++series.points.back().count;
      series.values.push_back(sample.value);
    }
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
    SeriesKey key;
    int64_t device = 0;
    bool wanted = false;
  };

  const Database& database_;
  const SeriesFilter& filter_;
  std::vector<Environment>& environments_;
  std::vector<uint32_t> runs_;                 // the night, by id
  std::vector<std::vector<uint32_t>> places_;  // environments, by id of the device and night
  std::vector<Subject> subjects_;              // by id
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
    case CaseStatus::Mistrusted: return 1;
    case CaseStatus::Fallback: return 2;
    case CaseStatus::Fail: return 3;
    case CaseStatus::Hang: return 4;
    case CaseStatus::Crash: return 5;
    default: return std::nullopt;
  }
}

Result<std::vector<Series>> Store::series(const SeriesFilter& filter, std::vector<Environment>& environments) const {
  environments.clear();
  return Loader(database_, filter, environments).load();
}

}  // namespace opkit::reports
