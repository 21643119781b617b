// measure: samples of how long something takes, by Google Benchmark.
#pragma once

#include <functional>

#include "harness/run/results.h"

namespace opkit::harness {

struct MeasureOptions {
  size_t samples = 15;
  double minSampleNs = 1e6;   // a sample repeats its subject until it lasts this long
  double maxSubjectNs = 3e9;  // with a slow subject fewer samples are taken, at least 3
};

/// Calls `subject` again and again; it returns the nanoseconds that count, so that setting up can be left out. The
/// first call only warms up. CPU time of the whole process stands beside each sample. The subject's first failure
/// ends the measurement.
Result<Timing> measure(const MeasureOptions& options, const std::function<Result<double>()>& subject);

}  // namespace opkit::harness
