// Trust: detects cases that prove nothing. If the expected output is mostly zero, or does not depend on the inputs, or
// if the bound is as large as the values, a kernel that computes nothing passes.
#pragma once

#include "engine/op/op_def.h"
#include "harness/check/prepared.h"

namespace opkit::harness {

/// OK unless over 30 % of the expected values of a sum, softmax or norm are zero (75 % if none is negative, since half
/// of the values clamped at zero are zero).
Status checkZeros(const OpDef& def, const PreparedCase& c);

/// OK unless redrawing the values of every input, several times, does not change the oracle's output. In the designed
/// lane, for inputs of which some are random. Shapes of a few elements are not checked.
Status checkSensitivity(const OpDef& def, const PreparedCase& c);

/// OK unless the comparison would miss a wrong result: over 90 % of the values that are not zero would pass as zero, a
/// value just outside its bound would pass, or the oracle's own result, rounded, would not. For every class and every
/// lane that compares values.
Status checkBounds(const OpDef& def, const PreparedCase& c);

}  // namespace opkit::harness
