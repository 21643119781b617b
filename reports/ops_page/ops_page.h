// The page docs/ops.md: an OpsTable as Markdown, and back. Pure functions.
#pragma once

#include "reports/ops_page/ops_table.h"

namespace opkit::reports {

/// The whole page. Dtypes of an operator that differ in no kernel and no margin share a row.
std::string renderOpsPage(const OpsTable& table);

/// The table that a page shows: devices, options, operators with classes, kernels, counts of refused cases and margins;
/// rates, runs and reasons of refusals are left out. InvalidArgument names the line that has another form.
Result<OpsTable> parseOpsPage(const std::string& text);

}  // namespace opkit::reports
