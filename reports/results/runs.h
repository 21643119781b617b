// Runs: the records of results by process run, and the options under which a run measured.
#pragma once

#include <string>
#include <vector>

#include "reports/results/reader.h"

namespace opkit::reports {

/// A run and its records.
struct RunRecords {
  const Run* run = nullptr;
  std::vector<const DeviceRecord*> devices;
  std::vector<const CaseRecord*> cases;
  std::vector<const MutantRecord*> mutants;
};
/// In the order of the files. Records of no run are left out.
std::vector<RunRecords> byRun(const Results& results);

/// Options of a command line that change the device or its kernels, sorted: "--mask no-fp16 --vector-width 128".
std::string deviceOptions(const std::string& command);

}  // namespace opkit::reports
