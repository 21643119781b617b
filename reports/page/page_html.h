// pageHtml: the report page, one file that needs no network.
#pragma once

#include <string>

#include "engine/base/status.h"
#include "reports/report_data.h"

namespace opkit::reports {

/// The template with the data of reportData, and pageData compressed for its script. Internal if the template is wrong.
Result<std::string> pageHtml(const Results& results, const PageSources& sources);

}  // namespace opkit::reports
