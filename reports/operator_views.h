// Operator views: what the page shows of one operator: cases by ending, worst errors, kernels, what did not run and
// why, and each timed case with its times over the nights.
#pragma once

#include <kainjow/mustache.hpp>

#include "reports/results/reader.h"
#include "reports/time_history.h"

namespace opkit::reports {

/// One view for each operator of the results, by name. `history` may be null.
kainjow::mustache::data operatorViews(const Results& results, const TimeHistory* history);

}  // namespace opkit::reports
