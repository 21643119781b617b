// Trust: does a case prove anything? One whose expected output is mostly zero, or the same whatever the input, passes
// for kernels that compute nothing.
#pragma once

#include "engine/op/op_def.h"
#include "harness/check/prepared.h"

namespace opkit::harness {

/// OK unless over 30 % (75 % where nothing is negative: half of what is clamped at zero is zero) of what a sum,
/// softmax or norm should give is zero.
Status checkZeros(const OpDef& def, const PreparedCase& c);

/// OK unless redrawing the values of every input, several times, leaves the oracle's output as it is. Only for data
/// that the lane chose: designed data may mean it. Shapes of a few elements are left alone.
Status checkSensitivity(const OpDef& def, const PreparedCase& c);

}  // namespace opkit::harness
