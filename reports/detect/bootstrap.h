// The confidence interval of a change.
#pragma once

#include "reports/detect/change_points.h"
#include "reports/detect/judge.h"

namespace opkit::reports::detect {

/// Sets from, to, ratio and its percentile interval by a cluster bootstrap: nights are drawn with replacement on each
/// side of the change, then process runs within each night. Seeded by settings.seed and the series' key.
void measureChange(const Series& series, const ChangePoint& point, const Settings& settings, Change& change);

}  // namespace opkit::reports::detect
