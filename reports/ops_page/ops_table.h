// OpsTable: operator x dtype x backend: what a run of op-harness showed, beside what the cards and kernels of a build
// say.
//
// docs/ops.md is this table as text (ops_page.h), and its test compares two of them (ops_differences.h). Plain values.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "engine/op/op_registry.h"
#include "reports/results/reader.h"

namespace opkit::reports {

/// One operator, dtype and backend. Figures are text, so that a page can be compared with results digit by digit.
struct OpsCell {
  std::set<std::string> kernels;            // that ran cases: "opkit/vector"
  size_t ran = 0, failed = 0, refused = 0;  // cases
  std::string margin;                       // worst error as a share of its bound, two digits; empty if none ran
  double rate = 0;                          // of the fastest timed entry, in 1e9 per second; 0 if none

  bool empty() const { return ran + refused == 0; }
};

struct OpsEntry {
  std::string errorClass;                                       // "OneRounding"
  std::string folder;                                           // of ops/; empty for operators of plugins
  std::map<std::string, std::map<std::string, OpsCell>> cells;  // by dtype, by backend
  std::map<std::string, std::set<std::string>> idle;            // by backend: kernels that ran no case

  /// The kernels of the operator on a backend, those that ran included.
  std::set<std::string> kernels(const std::string& backend) const;
  bool countsFlops() const { return errorClass == "Products"; }
};

struct OpsDevice {
  std::string backend, name, driver;
  bool software = false;
  bool roof = false;  // its rates come from `bench --roof`

  bool isSame(const OpsDevice& other) const { return name == other.name && driver == other.driver; }
};

/// Cases of an operator that a backend does not run, as their files declare. If some of them run, a row has one dtype
/// or several with such counts together.
struct OpsRefusal {
  std::string backend, op, dtypes, reason;
  size_t refused = 0, of = 0;  // a page does not say these if all are refused: 1 of 1
  bool isPart() const { return refused < of; }
};

/// A run that figures come from.
struct OpsRun {
  std::string command;  // "`op-harness check --written`"; in an updated page with the operators
  std::string commit, started;
  bool operator==(const OpsRun&) const = default;
};

struct OpsTable {
  std::vector<OpsDevice> devices;  // one per backend, the order of the columns
  std::string options;             // of the device: "--simd AVX2"; empty for none
  std::string build;               // of the program that checked: "GNU 12.2.0, Release"
  std::vector<OpsRun> runs;        // that the figures come from
  std::string missing;             // see Results::missing()
  std::map<std::string, OpsEntry> operators;
  std::vector<OpsRefusal> refusals;

  const OpsDevice* device(const std::string& backend) const;
  size_t ran() const;
};

/// The operators of a build: cards' dtypes with empty cells, and all kernels of the backends as idle ones.
OpsTable tableOfBuild(const OpRegistry& registry, const std::vector<std::string>& backends);

/// The same with the cells of a run. Takes the runs with the device options of the first one that checked operators.
/// InvalidArgument if no line comes from `op-harness check`, if a backend has two devices, or for an operator that the
/// registry does not have.
Result<OpsTable> tableOfResults(const Results& results, const OpRegistry& registry);

}  // namespace opkit::reports
