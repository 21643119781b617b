// Whether two sources of expected values agree: an operator's oracle and a script, or stored values. Thread-safe.
#pragma once

#include "harness/compare/tolerance.h"

namespace opkit::harness {

/// OK if both would judge a kernel alike: each element rounds to the same value of the output's dtype, or differs by at
/// most an eighth of the kernel's bound (twice the bound for f64, which both compute in). Otherwise Internal: "the
/// script and the built-in oracle differ: 3 of 15 elements; ...". `who` is "the script".
Status checkAgreement(const OpDef& def, const Case& c, const std::vector<OracleTensor>& builtin,
                      const std::vector<OracleTensor>& other, const std::string& who);

}  // namespace opkit::harness
