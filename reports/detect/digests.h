// Verdicts of digest series: whether the output bits changed, and whether an error changed with them.
#pragma once

#include "reports/detect/judge.h"

namespace opkit::reports::detect {

/// Fills in the verdicts of digest series. Errors are the Accuracy series of the same case, backend, provider and dtype
/// on the same timeline; they are the same if none moved by leastAccuracyEffect between the two nights.
void judgeDigests(const History& history, const Settings& settings, std::vector<SeriesVerdict>& verdicts);

}  // namespace opkit::reports::detect
