// Operator facts: what results say about each operator, as numbers. The page and `op-report show` lay them out.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "reports/results/reader.h"
#include "reports/tally.h"
#include "reports/time_history.h"

namespace opkit::reports {

/// The checked cases of one operator on one backend.
struct BackendFacts {
  std::string backend;
  Tally tally;
  std::vector<std::string> kernels;  // "provider/kernel", sorted
  double margin = 0;                 // worst share of the bound; NaN is the worst, 0 if none is recorded
  double ulp = 0;                    // worst
  std::string worst;                 // id of the case with the worst margin
};

/// Sub-checks that did not run, or cases that were refused or skipped, for one reason.
struct NotRunFacts {
  size_t count = 0;  // of cases
  std::string what;  // "canary", "refused on vulkan", "skipped on cpu"
  std::string reason;
};

struct Quartiles {
  double low = 0, median = 0, high = 0;
};

/// One timed case on one backend with one provider. Times in ns, NaN if they are not recorded. Medians are those of the
/// middle process run by execute time on the host (the later one of an even number).
struct TimeFacts {
  std::string id, backend, provider, kernel;
  CaseStatus status = CaseStatus::Pass;
  std::string reason;  // of a case that was not timed
  double create, resizeCold, resizeWarm, executeWall, executeDevice;
  double flops, bytes, roofline;     // of one execution; share of the roof; NaN if not recorded
  std::vector<double> runs;          // least execute time of each process run, by the device's clock, else the host's
  std::optional<Quartiles> samples;  // of the same clock in the middle process run
  const NightTimes* history = nullptr;

  /// By the host's clock; NaN if something is missing.
  double gflops() const { return flops / executeWall; }
  double gbs() const { return bytes / executeWall; }
};

struct OperatorFacts {
  std::string name;
  std::vector<BackendFacts> backends;  // by name; empty if no case was checked
  std::vector<NotRunFacts> notRun;     // most cases first
  std::vector<TimeFacts> times;        // in the order of the results
  size_t moreTimes = 0;                // that cutFacts left out
};

/// By name. `history` may be null; it must outlive the facts.
std::vector<OperatorFacts> operatorFacts(const Results& results, const TimeHistory* history);

/// "provider/kernel", or the provider alone.
std::string kernelName(const std::string& provider, const std::string& kernel);
/// True if an error is larger than another one; NaN is larger than all others.
bool isWorse(double error, double than);

}  // namespace opkit::reports
