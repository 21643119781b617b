// The report page: its sources, and one file that needs no network. `op-report build` and `op-report demo` write it.
#pragma once

#include <map>
#include <string>

#include "engine/base/status.h"
#include "engine/op/op_registry.h"
#include "reports/report_data.h"

namespace opkit::reports {

/// Adds the nights and the verdicts of a history. Errors are those of Store::open.
Status addHistory(const std::string& path, PageSources& sources);

/// The summaries of operators and their pages below ops/.
std::map<std::string, OperatorNote> operatorNotes(const OpRegistry& registry);

/// The template with the data of reportData, and pageData compressed for its scripts. Internal if the template is
/// wrong.
Result<std::string> pageHtml(const Results& results, const PageSources& sources);

/// Writes the page. InvalidArgument if the file cannot be written.
Status writePage(const Results& results, const PageSources& sources, const std::string& path);
Status writeText(const std::string& path, const std::string& text);

}  // namespace opkit::reports
