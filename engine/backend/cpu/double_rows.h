// Rows of doubles by vectors, for kernels of f64. Compiled once per instruction set and chosen at run time. Pure
// functions, thread-safe. An output may be the input. A NaN in an input is a NaN in the result.
#pragma once

#include <cstdint>

namespace opkit::cpu {

/// y = e^(x - shift), within 2 ULP; returns the sum of y. y may be null when only the sum is wanted. REQUIRES x - shift
/// to be at most 0, or NaN.
double expBelow(const double* x, double shift, double* y, int64_t count);

}  // namespace opkit::cpu
