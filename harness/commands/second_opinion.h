// Second opinion on a failure under --driver or --vector-width: the same case without these options.
#pragma once

#include <nlohmann/json.hpp>

namespace opkit::harness {

/// True if the process runs with --driver or --vector-width.
bool hasSecondOpinion();

/// Checks the case of a failed Vulkan line once more without --driver and --vector-width, in a process of its own, and
/// says in one sentence how the results compare. Empty if no such option was given.
std::string secondOpinion(const nlohmann::json& line, const std::string& repeatCommand);

}  // namespace opkit::harness
