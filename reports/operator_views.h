// Operator views: what the page shows of one operator: cases by ending, worst errors, kernels, what did not run and
// why, and each timed case with its times over the nights.
#pragma once

#include <kainjow/mustache.hpp>
#include <map>
#include <vector>

#include "reports/results/reader.h"

namespace opkit::reports {

/// Least times per night of every timed case, oldest first, NaN for nights without one; by case, backend and provider.
struct TimeHistory {
  using Key = std::tuple<std::string, std::string, std::string>;
  std::map<Key, std::vector<double>> nights;
};
/// By the device's clock, else the host's. Errors are those of Store::open.
Result<TimeHistory> readTimeHistory(const std::string& path);

/// One view for each operator of the results, by name. `history` may be null.
kainjow::mustache::data operatorViews(const Results& results, const TimeHistory* history);

}  // namespace opkit::reports
