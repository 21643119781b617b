// pageData: what the page's script reads, and `op-report build --data` writes for other programs.
//
// One JSON object. docs/history.md describes its fields. Times are ns, rates operations and bytes per ns (GFLOP/s and
// GB/s); a figure that was not measured is null.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "reports/report_data.h"

namespace opkit::reports {

nlohmann::json pageData(const Results& results, const PageSources& sources);

/// The object as text. What is no UTF-8 in results is replaced.
std::string dataText(const Results& results, const PageSources& sources);

/// Text for a page: deflated as zlib does it, in base64.
std::string packed(const std::string& text);

}  // namespace opkit::reports
