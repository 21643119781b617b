// Demo nights: results of a device that does not exist, drawn from recorded noise, for people without a history.
//
// Sixty nights of thirty operators on two backends, with the changes of planted.h; or many series without changes, to
// measure how op-report grows. Equal options give equal bytes on one machine.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "reports/demo/demo_cases.h"
#include "reports/detect/evaluate/noise.h"
#include "reports/results/writer.h"

namespace opkit::reports::demo {

struct DemoOptions {
  size_t nights = 60;
  size_t series = 0;  // 0: the cases of demo_cases.h with the planted changes, timed in seven process runs; else so
                      // many times, nothing planted, one process run a night
  uint64_t seed = 8;
};

/// "2026-11-29" of tonight, 0.
std::string nightName(size_t ago);

/// Draws the nights in turn, the oldest first. Used by one thread.
class DemoNights {
 public:
  static Result<std::unique_ptr<DemoNights>> create(const DemoOptions& options);

  /// Writes the results of the next night into a new file, which must not exist; the last call is tonight.
  Status write(const std::string& path);

  size_t seriesOfTimes() const;

 private:
  struct Figure {
    const char* name;
    double ns;
    detect::NoiseSeries noise;
    std::vector<double> night;  // logarithms of tonight's process runs about `ns`
  };
  struct TimedCase {
    const DemoCase* about;
    std::string id, backend;
    std::vector<Figure> figures;
  };
  struct Lines;  // of a night, left before it is killed

  explicit DemoNights(const DemoOptions& options);
  Status readNoise();
  void addTimed(const DemoCase& about, size_t number, const std::string& backend);
  bool isTimed(const TimedCase& timed) const;
  size_t plannedLines() const;
  Status writeCheck(const std::string& path, Lines& lines);
  Status writeBench(const std::string& path, size_t run, Lines& lines);
  RunRecord runOf(const std::string& command, size_t index) const;
  DeviceRecord deviceOf(const std::string& backend, bool calibrated, size_t run);
  CaseRecord caseOf(const char* kind, const DemoCase& about, const std::string& id, const std::string& backend) const;
  CaseRecord checked(const DemoCase& about, const std::string& backend) const;
  CaseRecord timed(const TimedCase& timed, size_t run) const;

  DemoOptions options_;
  detect::NoiseSettings settings_;
  std::map<std::string, std::vector<detect::Residuals>> residuals_;  // by figure
  std::vector<TimedCase> timed_;
  harness::Rng machine_;  // of its speed
  size_t ago_;            // of the night to write next
};

struct DemoCounts {
  size_t nights = 0, lines = 0, series = 0;  // series of times
};

/// Writes results.jsonl, of tonight, and history.sqlite into an empty folder.
Result<DemoCounts> writeDemo(const std::string& folder, const DemoOptions& options);

}  // namespace opkit::reports::demo
