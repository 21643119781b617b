// The parts of the environment that moved where a series changed.
#pragma once

#include <string>
#include <vector>

#include "reports/detect/judge.h"

namespace opkit::reports::detect {

/// Names of facts that moved between `lastGood` and `firstBad`, or one night before or after: the split of a noisy
/// series can be off by one. Texts move if both are known and differ. A calibration moves if its medians before and
/// after differ by `calibrationMove` and by 3 robust standard deviations.
std::vector<std::string> movedFacts(const Timeline& timeline, uint32_t lastGood, uint32_t firstBad, bool exact,
                                    const Settings& settings);

}  // namespace opkit::reports::detect
