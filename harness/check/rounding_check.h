// checkRounding: an f16 result of an elementwise operator is the result of the backend's f32 kernel on the same inputs,
// rounded once to nearest even, bit for bit.
#pragma once

#include "harness/check/prepared.h"

namespace opkit::harness {

/// True if the rule holds for outputs of this operator: one of the classes OneRounding, FewRoundings and
/// Transcendental, or one that may run in place. The others sum, where another kernel for f16 may use another order.
bool roundsElementwise(const OpDef& def);

/// Runs the case in f32 with `provider` and compares with `outputs`, the results in f16. NaN stands for any NaN.
/// Unsupported if no kernel of the provider takes f32, or a parameter makes the output f16.
Status checkRounding(const PreparedCase& c, const std::vector<Tensor>& outputs, const OpRegistry& registry,
                     Runtime& runtime, const std::string& provider);

}  // namespace opkit::harness
