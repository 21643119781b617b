// measureInTurns: samples of several subjects, one after the other, so that warm-up and load of the machine meet all of
// them alike.
#pragma once

#include "harness/bench/measure.h"

namespace opkit::harness {

/// As measure(), for each subject: the nanoseconds to count. In every round each subject gives a sample, and the order
/// is the other way round in the next. Before a sample the threads of the one before get time to come to rest. The
/// first failure ends the measurement. Without CPU times.
Result<std::vector<Timing>> measureInTurns(const MeasureOptions& options,
                                           const std::vector<std::function<Result<double>()>>& subjects);

}  // namespace opkit::harness
