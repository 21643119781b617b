// baseline: compares the speed of this build with that of another.
//
// If the baseline is a program, the two take turns case by case, so that warm-up and load of the machine affect both.
// If it is a results file, runs are not interleaved; the report says so. Samples of one process are correlated, so the
// unit is a process run with its least sample, which other programs disturb least (docs/decisions/0038-detector.md).
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "engine/base/status.h"
#include "harness/run/processor_time.h"

namespace opkit::harness {

struct BaselineOptions {
  std::string baseline;            // a program, or JSON lines of `bench --json`
  std::vector<std::string> given;  // further options of `bench`, for both programs
  size_t rounds = 7;               // process runs of each program and case
  double threshold = 0.02;         // smallest relative change that counts
};

/// The least wall and CPU times of each process run, or turn, of one side.
struct BenchFigures {
  std::map<std::string, std::vector<double>> values;  // "id\nbackend\nfigure" -> one per run
  std::set<std::string> software;                     // backends on software devices

  /// `cpu` is 0 where it was not measured.
  void add(const std::string& id, const std::string& backend, const std::string& figure, double wall, double cpu);
};

/// Names a machine on which other processes ran meanwhile.
class BusyMachine {
 public:
  BusyMachine() : before_(machineTimes()), ownBefore_(ownSeconds()) {}
  /// "other processes took 41 % of the cores meanwhile: intervals are wide"; empty below a twentieth.
  std::string note() const;
  static std::string noteOf(double othersShare);

 private:
  MachineTimes before_;
  double ownBefore_;
};

/// Prints a row per case, backend and figure that both have: medians over the runs, the ratio's interval, p, the
/// verdict. The exit code: 1 if something became slower, 3 if nothing could be compared.
int reportRatios(const BenchFigures& base, const BenchFigures& now, double threshold, const std::string& baseName,
                 const std::string& nowName);

/// Takes turns with a program, or reads a file, and reports.
Result<int> compareWithBaseline(const std::vector<std::string>& ids, const BaselineOptions& options);

/// Prints that times of a software Vulkan device are no guide for GPUs; nothing for other devices.
void cautionOf(const std::string& backend, bool isSoftware);

}  // namespace opkit::harness
