// measure: samples of a duration, by Google Benchmark.
#pragma once

#include <functional>

#include "harness/run/results.h"

namespace opkit::harness {

struct MeasureOptions {
  size_t samples = 15;
  double minSampleNs = 1e6;   // a sample repeats its subject until it lasts this long
  double maxSubjectNs = 3e9;  // with a slow subject fewer samples are taken, at least 3
};

/// Calls `subject` repeatedly; it returns the nanoseconds to count, so that set-up can be excluded. The first call only
/// warms up. Each sample also records the CPU time of the whole process. The subject's first failure ends the
/// measurement.
Result<Timing> measure(const MeasureOptions& options, const std::function<Result<double>()>& subject);

}  // namespace opkit::harness
