// The data that the detector judges: series of nightly results.
//
// A Timeline holds the nights of one machine and device: dates, commits, environments. A Series holds one metric of one
// case on one timeline: for each night on which it was measured, one value per process run. Samples inside one process
// are correlated, so the caller reduces a process to one value (for times the least or the median sample). Plain
// values, no file format. Not thread-safe while being filled.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

namespace opkit::reports::detect {

/// Facts of a night that can move figures although no code changed. Empty texts are unknown and never count as moved.
struct Environment {
  double calibration = std::numeric_limits<double>::quiet_NaN();  // rate or time of a fixed loop; NaN: not measured
  std::string driver, compiler, host, kernel;
};

struct Night {
  std::string date;    // for messages; the order in the timeline counts
  std::string commit;  // of the build that was measured
  Environment environment;
};

/// Nights in order, oldest first; the last one is "tonight".
struct Timeline {
  std::vector<Night> nights;
};

enum class MetricKind {
  Time,      // lower is better, noisy, multiplicative: judged on logarithms
  Rate,      // higher is better, noisy, multiplicative: a share of a peak, a ratio to a peer
  Accuracy,  // lower is better, jumps: margin, max ULP, NMSE; may be 0, infinite or NaN
  Size,      // lower is better, exact: arena bytes, bytes of SPIR-V
  Score,     // higher is better, exact: mutation score, numbers of passed tests
  Digest,    // text: the output bits
};

/// Identifies a series within a timeline. Series of one case share all fields except metric.
struct SeriesKey {
  std::string caseId, op, backend, provider, dtype, metric;
};

class Series {
 public:
  SeriesKey key;
  MetricKind kind = MetricKind::Time;
  uint32_t timeline = 0;  // index in History::timelines

  /// Adds a night's process runs. Nights must rise. Runs that are no result (for times NaN, infinite or <= 0) are left
  /// out; a night without any result is not added.
  void add(uint32_t night, std::span<const double> runs);
  /// Adds a night's digest, for MetricKind::Digest.
  void addDigest(uint32_t night, uint64_t digest);

  /// The series with successive nights joined, from the last one backwards, until each has `leastRuns` process runs;
  /// the first nights are left out if they have fewer. `without` last nights do not count.
  Series pooled(size_t leastRuns, size_t without = 0) const;

  /// Of measured nights, or of joined ones.
  size_t size() const { return nights_.size(); }
  /// Index in Timeline::nights of the i-th measured night; of joined ones the first.
  uint32_t night(size_t i) const { return nights_[i]; }
  /// Of joined nights the last.
  uint32_t lastNight(size_t i) const { return lasts_.empty() ? nights_[i] : lasts_[i]; }
  std::span<const double> runs(size_t i) const {
    return std::span(values_).subspan(firsts_[i], firsts_[i + 1] - firsts_[i]);
  }
  uint64_t digest(size_t i) const { return digests_[i]; }

 private:
  bool isResult(double value) const;

  std::vector<uint32_t> nights_;
  std::vector<uint32_t> lasts_;      // of joined nights
  std::vector<uint32_t> firsts_{0};  // of the runs of each night in values_; one more at the end
  std::vector<double> values_;
  std::vector<uint64_t> digests_;
};

struct History {
  std::vector<Timeline> timelines;
  std::vector<Series> series;
};

inline bool isNoisy(MetricKind kind) { return kind == MetricKind::Time || kind == MetricKind::Rate; }
inline bool higherIsBetter(MetricKind kind) { return kind == MetricKind::Rate || kind == MetricKind::Score; }

}  // namespace opkit::reports::detect
