// What a page of operators (docs/ops.md) has that this build or a run of it has not, and the other way round. Pure
// functions; the text of a difference names the operator and both sides.
#pragma once

#include "reports/ops_page/ops_table.h"

namespace opkit::reports {

struct OpsDifferences {
  std::vector<std::string> lines;  // one per difference
  std::vector<std::string> notes;  // of what could not be compared
};

/// Operators, folders, error classes, dtypes, backends and kernels of a page against tableOfBuild. A backend that this
/// build lacks, and the kernels of an optional provider that no operator of this build has, are notes.
OpsDifferences compareWithBuild(const OpsTable& page, const OpsTable& build);

/// The cells of a page against those of tableOfResults that ran or were refused: on the CPU, between software devices,
/// and on one device. Margins are compared digit by digit on the same device, driver, options and build, elsewhere
/// within 0.2 of the bound.
OpsDifferences compareWithRun(const OpsTable& page, const OpsTable& run);

}  // namespace opkit::reports
