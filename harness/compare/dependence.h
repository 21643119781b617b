// Dependence: which elements of the inputs a wrong element follows.
//
// Elements of the inputs are changed, in the kernel and in the oracle alike. Where the wrong element follows a change
// in one of them only, the kernel reads another element than it should. This is an experiment, not a hypothesis: what
// it says is so, whatever the mistake.
#pragma once

#include "harness/compare/diagnose.h"

namespace opkit::harness {

/// "element [2,5] takes input 1 'scale' [2] in place of [5]", of the first and the last wrong element. nullopt if they
/// follow the same elements as in the oracle, if the kernel cannot run again, or if three seconds show nothing.
std::optional<std::string> explainByDependence(const Evidence& evidence, const std::vector<bool>& wrong);

}  // namespace opkit::harness
