// roof: a kernel of the CPU backend against the processor's own rates: what share of them it reaches at a size that
// users have. The answer is checked before it is timed.
#pragma once

#include "engine/tools/device_peaks.h"
#include "harness/check/prepared.h"
#include "harness/run/results.h"

namespace opkit::harness {

struct RoofOptions {
  size_t threads = 1;
  size_t mostRuns = 60;
  double enoughNs = 2e8;  // of runs, after the least of them
};

/// A result of kind "roof": the least time of the case's kernels in one run, their FLOPs and bytes as the engine counts
/// them, and the share of `peaks`, which were measured with as many threads. Nothing to run leaves `times` empty.
CaseResult timeAgainstRoof(const PreparedCase& c, const OpRegistry& registry, const std::shared_ptr<Runtime>& runtime,
                           const DevicePeaks& peaks, const RoofOptions& options);

}  // namespace opkit::harness
