// BenchRun: times cases on backends in a worker process, so that a kernel that ends or stops the process costs one
// case.
#pragma once

#include "harness/bench/bench.h"
#include "harness/commands/bench_devices.h"
#include "harness/run/isolated_jobs.h"
#include "harness/run/terminal.h"

namespace opkit::harness {

struct BenchPlan {
  const OpRegistry& registry;
  const BackendOptions& backend;
  const BenchOptions& bench;
  const std::vector<ChosenCase>& chosen;
  bool areSized = false;         // cases of --size have the dtypes of all backends: a fallback is no failure
  double timeoutSeconds = 1800;  // of a case
};

/// The part of the worker.
class BenchJob {
 public:
  explicit BenchJob(const BenchPlan& plan) : plan_(plan) {}

  /// Opens and measures the devices: {"error": why not} or {"devices": [MeasuredDevice::toText()]}.
  std::string measure();
  /// The record of a case, and the text of its failure: {"record", "block"}.
  std::string time(size_t chosen, size_t lane);

 private:
  Status open();

  const BenchPlan& plan_;
  std::vector<BackendLane> lanes_;
  std::vector<std::shared_ptr<ShaderLog>> shaders_;  // of the lanes, shared with their Runtimes
  std::optional<size_t> prepared_;                   // the case of `group_`
  PreparedGroup group_;
};

class BenchRun {
 public:
  /// `open` begins the results file, once the devices are known to work.
  BenchRun(const BenchPlan& plan, ResultFile& file, std::function<Status()> open);

  /// Times every case on every backend, unless an interrupt or a full disk ends it. The errors are those of the
  /// devices.
  Status run();
  void print() const;

  size_t done() const { return done_; }
  size_t executed() const { return executed_; }
  bool failed() const { return failed_; }

 private:
  void takeDevices(const JobOutcome& outcome);
  double devicesSeconds() const;
  Status lossOfDevices(const JobOutcome& outcome);
  void takeCase(size_t chosen, size_t lane, const JobOutcome& outcome);
  CaseResult lost(const Case& c, const std::string& backend, const JobOutcome& outcome) const;
  void record(CaseRecord one, const std::string& block);
  void addRow(const CaseRecord& one);

  const BenchPlan& plan_;
  ResultFile& file_;
  std::function<Status()> open_;
  Status opened_;
  std::vector<MeasuredDevice> devices_;
  Table table_;
  Progress progress_;
  size_t done_ = 0, executed_ = 0;
  bool failed_ = false;
};

}  // namespace opkit::harness
