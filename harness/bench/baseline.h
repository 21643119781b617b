// baseline: is this build faster or slower than another?
//
// With another op-harness program the two take turns, case by case, so that a machine that warms up or is shared hurts
// both alike. With a results file the figures are those of another day, and that is said.
#pragma once

#include <string>
#include <vector>

#include "engine/base/status.h"

namespace opkit::harness {

struct BaselineOptions {
  std::string baseline;  // a program, or JSON lines of `bench --json`
  std::vector<std::string> backends;
  size_t rounds = 5;
  size_t samples = 15;
  double threshold = 0.02;  // relative change that counts
};

/// Prints a row per case, backend and figure that both have: medians, the ratio's interval, p, the verdict. The exit
/// code: 1 when something became slower, 3 when nothing could be compared.
Result<int> compareWithBaseline(const std::vector<std::string>& ids, const BaselineOptions& options);

}  // namespace opkit::harness
