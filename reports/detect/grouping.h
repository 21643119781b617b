// Series that moved together become one finding.
#pragma once

#include "reports/detect/judge.h"

namespace opkit::reports::detect {

/// Groups the changes of `verdicts` by timeline, night and direction; the night of a noisy series may be off by one
/// from that of the largest group nearby. Each group is divided by the operator, backend or provider that most of its
/// series share. Digests whose error changed too are left to the error's finding.
std::vector<Finding> groupChanges(const History& history, const std::vector<SeriesVerdict>& verdicts);

}  // namespace opkit::reports::detect
