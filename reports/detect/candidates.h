// The last change of one series, before the correction for many series.
#pragma once

#include <optional>

#include "reports/detect/change_points.h"
#include "reports/detect/judge.h"

namespace opkit::reports::detect {

/// The value of a night from its process runs (at least one): the quartile on the quick side of times and rates, since
/// other programs only slow a run down; the worst accuracy; the median of others. The order of runs changes.
double nightlyValue(std::span<double> runs, MetricKind kind);

/// One value per measured night on the scale on which changes are sought: logarithms of times, rates and accuracies
/// (non-finite and zero accuracies are cut to finite values far away), plain Size and Score values.
std::vector<double> nightlyValues(const Series& series, size_t first, size_t count);

struct Candidate {
  bool enough = false;              // data to judge
  std::vector<ChangePoint> points;  // within the window, oldest first; indices of measured nights of the series
  double previousP = 1;             // of the last point, judged without the last night; joined nights: of one nearby
  bool jump = false;                // the last point is a jump of tonight
};

/// Looks at the last `settings.window` nights of a series that is no digest.
Candidate findCandidate(const Series& series, const Settings& settings);
/// The same of a noisy series; `joined` is series.pooled(settings.leastRuns), to which indices refer.
Candidate findNoisyCandidate(const Series& series, const Series& joined, const Settings& settings);

}  // namespace opkit::reports::detect
