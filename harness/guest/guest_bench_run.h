// GuestBenchRun: times cases on a guest beside OpKit's backends in a worker process, so that a guest that ends or stops
// the process costs one case. Prints a table of the times and their ratios.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "harness/bench/bench.h"
#include "harness/guest/guest_bench.h"
#include "harness/run/isolated_jobs.h"
#include "harness/run/terminal.h"

namespace opkit::harness {

struct GuestBenchPlan {
  const OpRegistry& registry;
  const OnnxRules& rules;
  std::vector<std::string> sides;  // the guest's name, then those of the backends
  const std::vector<ChosenCase>& chosen;
  MeasureOptions options;
  double timeoutSeconds = 1800;  // of a case
  // The command line that repeats a case on a side.
  std::function<std::string(const std::string& side, const std::string& id)> repeat;
  // Called in the worker.
  std::function<Result<std::unique_ptr<Guest>>()> openGuest;
  std::function<Result<std::vector<BenchBackend>>()> openBackends;
};

/// The part of the worker.
class GuestBenchJob {
 public:
  explicit GuestBenchJob(const GuestBenchPlan& plan) : plan_(plan) {}

  /// The records of a case, one per side, and the texts of failures: {"records", "blocks"}. Opens the guest and the
  /// backends first.
  std::string time(size_t chosen);

 private:
  Status openAll();
  std::vector<CaseResult> resultsOf(const ChosenCase& c);

  const GuestBenchPlan& plan_;
  std::vector<BenchBackend> backends_;
  std::unique_ptr<Guest> guest_;
};

class GuestBenchRun {
 public:
  GuestBenchRun(const GuestBenchPlan& plan, ResultFile& file);

  /// Times every case, unless an interrupt or a full disk ends it.
  Status run();
  /// The table, the means of its ratios, and the cases that were not timed.
  void print() const;

  size_t done() const { return done_; }    // records
  size_t timed() const { return timed_; }  // cases, on the guest and a backend
  bool failed() const { return failed_; }

 private:
  /// `printed`: the last lines of the worker.
  void takeCase(size_t chosen, const JobOutcome& outcome, const std::string& printed);
  std::vector<CaseResult> lost(const Case& c, const JobOutcome& outcome) const;
  void record(const std::vector<CaseRecord>& sides);
  void addRows(const std::vector<CaseRecord>& sides);

  const GuestBenchPlan& plan_;
  ResultFile& file_;
  Table table_;
  std::map<std::pair<std::string, size_t>, std::vector<double>> ratios_;  // by phase and side
  std::vector<std::string> untimed_;                                      // lines
  Progress progress_;
  size_t done_ = 0, timed_ = 0;
  bool failed_ = false;
};

}  // namespace opkit::harness
