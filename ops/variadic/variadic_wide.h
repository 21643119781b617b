// Loops of Mean over f32 elements with sums in double. Compiled once per instruction set and chosen at run time.
#pragma once

#include <cstdint>

namespace opkit::ops::variadic {

/// sums = x
void widen(const float* x, double* sums, int64_t count);
/// sums += x
void addWidened(const float* x, double* sums, int64_t count);
/// y = sums * factor, rounded to float.
void scaleToFloats(const double* sums, double factor, float* y, int64_t count);

}  // namespace opkit::ops::variadic
