// Cases of the lane `edges` for every elementwise operator and dtype, without case files naming them. Part of reach.
#pragma once

#include "harness/cases/case_file.h"

namespace opkit::harness {

/// True if the operator computes each element of its output from the same elements of its inputs.
bool isElementwise(const OpDef& def);

/// One case or more per dtype of the operator, with the parameters of `examples` in turn; none for other operators, and
/// none where the card refuses inputs of equal shapes.
std::vector<Case> edgeCases(const OpDef& def, const std::vector<const Case*>& examples, const OpRegistry& registry);

}  // namespace opkit::harness
