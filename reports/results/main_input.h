// The input of an operator that names the dtype of a node in results, lists and pages.
#pragma once

#include "engine/op/op_def.h"

namespace opkit {

/// The index of the first input that takes more than bool (the condition of Where is none), else 0.
size_t mainInput(const OpDef& def);

}  // namespace opkit
