// The inner loops of the CPU's pooling kernels, per instruction set. Pure functions, thread-safe.
#pragma once

#include <cstdint>

namespace opkit::ops::pool {

/// Joins rows into one: y[i] is the largest (the sum) of x[k * distance + i] over k in [0, taps); -infinity (0) without
/// taps. A NaN wins.
void maxRows(const float* x, int64_t distance, int64_t taps, float* y, int64_t count);
void sumRows(const float* x, int64_t distance, int64_t taps, float* y, int64_t count);

/// Windows over a row.
struct RowWindows {
  int64_t stride;
  int64_t dilation;
  int64_t taps;
  int64_t count;
};
/// Floats after the last one of a window that may be read (not used).
inline constexpr int64_t kRowSlack = 64;
/// y[i] is the largest (the sum) of x[i * stride + k * dilation] over k in [0, taps). A NaN wins.
void maxWindows(const float* x, const RowWindows& windows, float* y);
void sumWindows(const float* x, const RowWindows& windows, float* y);

}  // namespace opkit::ops::pool
