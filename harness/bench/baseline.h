// baseline: compares the speed of this build with that of another.
//
// If the baseline is a program, the two take turns case by case, so that warm-up and load of the machine affect both.
// If it is a results file, runs are not interleaved; the report says so. Samples of one process are correlated, so the
// unit is a process run with its least sample, which other programs disturb least (docs/decisions/0038-detector.md).
#pragma once

#include <string>
#include <vector>

#include "engine/base/status.h"

namespace opkit::harness {

struct BaselineOptions {
  std::string baseline;            // a program, or JSON lines of `bench --json`
  std::vector<std::string> given;  // further options of `bench`, for both programs
  size_t rounds = 7;               // process runs of each program and case
  double threshold = 0.02;         // smallest relative change that counts
};

/// Prints a row per case, backend and figure that both have: medians over the process runs, the ratio's interval, p,
/// the verdict. The exit code: 1 if something became slower, 3 if nothing could be compared.
Result<int> compareWithBaseline(const std::vector<std::string>& ids, const BaselineOptions& options);

/// Prints that times of a software Vulkan device are no guide for GPUs; nothing for other devices.
void cautionOf(const std::string& backend, bool isSoftware);

}  // namespace opkit::harness
