// The page docs/ops.md: an OpsTable as Markdown, and back. Pure functions.
#pragma once

#include "reports/ops_page/ops_table.h"

namespace opkit::reports {

/// The whole page. Dtypes of an operator that differ in no kernel and no margin share a row.
std::string renderOpsPage(const OpsTable& table);

/// The table that a page shows: renderOpsPage() gives the same page. Counts of cells are 0 or 1, as a page shows
/// whether there are any; the ends of a range of rates are those of the first and the last dtype of the row.
/// InvalidArgument names the line that has another form.
Result<OpsTable> parseOpsPage(const std::string& text);

/// The page's table with the rows of the operators that `run` executed or that were refused, and without operators that
/// the run's build lacks. A rate that the run did not measure is kept where the kernels are the same. InvalidArgument
/// unless the run is complete and both show the same backends, software or not, with the same options.
Result<OpsTable> updatedOpsTable(OpsTable page, const OpsTable& run);

}  // namespace opkit::reports
