// The report page: its sources and its file. `op-report build` and `op-report demo` write it.
#pragma once

#include <string>

#include "reports/report_data.h"

namespace opkit::reports {

/// What the history says of its newest night. Errors are those of Store::open.
Status addHistory(const std::string& path, PageSources& sources);

/// Writes the page of these results as one HTML file. InvalidArgument if it cannot be written.
Status writePage(const Results& results, const PageSources& sources, const std::string& path);

}  // namespace opkit::reports
