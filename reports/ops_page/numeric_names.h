// The names of the error classes, as docs/numerics.md and pages print them.
#pragma once

#include "engine/op/op_def.h"

namespace opkit {

/// "OneRounding".
const char* nameOf(NumericClass numeric);

}  // namespace opkit
