// The sections of the page about all operators at once.
#pragma once

#include <kainjow/mustache.hpp>

#include "reports/results/reader.h"

namespace opkit::reports {

/// A row for each operator, one cell for each backend and dtype.
kainjow::mustache::data matrixData(const Results& results);

/// The names of all operators with results of checks or benchmarks, and the links to their views.
kainjow::mustache::data operatorIndex(const Results& results);

}  // namespace opkit::reports
