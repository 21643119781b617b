// The dtype of a case in results.
#pragma once

#include "engine/op/op_def.h"
#include "harness/cases/case.h"

namespace opkit::harness {

/// "f32": of the operator's main input (engine/op/main_input.h), or of the next one that is present; empty if there is
/// none. Without a card (null) of the first present input.
std::string dtypeOf(const Case& c, const OpDef* def);

}  // namespace opkit::harness
