// Second opinion on a failure under --driver or --vector-width: the same case without these options.
#pragma once

#include "harness/run/results.h"

namespace opkit::harness {

/// True if the process runs with --driver or --vector-width.
bool hasSecondOpinion();

/// Checks the case of a failed Vulkan case once more without --driver and --vector-width, in a process of its own, and
/// says in one sentence how the results compare. Empty if no such option was given.
std::string secondOpinion(const CaseRecord& record, const std::string& repeatCommand);

}  // namespace opkit::harness
