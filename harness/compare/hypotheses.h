// Hypotheses: mistakes of a kernel that its oracle can imitate.
//
// Each hypothesis is one plausible mistake: a parameter that is ignored or taken from another place, an input that is
// left out or read at another index, the end of a summed axis that is missing, epsilon at another place. The oracle
// runs on altered inputs or parameters and gives the values of a kernel with that mistake. They explain a wrong output
// if all its elements are within the bound of those values; they explain a branch of the kernel (a tail, a lane) if the
// wrong elements are.
#pragma once

#include "harness/compare/diagnose.h"

namespace opkit::harness {

/// The end of a text that says nothing of right elements.
inline constexpr std::string_view kOnlyWrong = ", in the wrong elements only";

/// The hypothesis that fits the whole output, else the first that fits its wrong elements; nullopt if none does, if the
/// case is large (over 524,288 elements, or 100 million operations) or if four seconds have passed.
std::optional<Diagnosis> explainByOracle(const Evidence& evidence, const std::vector<bool>& wrong);

}  // namespace opkit::harness
