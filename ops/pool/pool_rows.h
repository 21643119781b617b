// The inner loops of the CPU's pooling kernels, per instruction set. Pure functions, thread-safe.
#pragma once

#include <cstdint>
#include <vector>

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

/// Planes whose rows and rows of outputs are shorter than two vectors: all between load and store stays in registers.
struct NarrowPlanes {
  /// The input rows of a row of outputs.
  struct Taps {
    int64_t first, count;
  };
  int64_t width = 0, height = 0;  // of the inputs
  int64_t rowStep = 0;            // input elements between neighbouring taps
  int64_t columnTaps = 0;
  std::vector<Taps> rows;        // per row of outputs
  std::vector<int32_t> columns;  // [tap, outputs of a row]: the input column; `width` for padding
  std::vector<float> divisors;   // [row, outputs of a row]: for means
};
/// Widths of inputs and outputs that are narrow; 0 if none is.
int64_t mostNarrow();
/// `planes` planes that follow each other. A NaN wins.
void maxPlanes(const NarrowPlanes& narrow, int64_t planes, const float* x, float* y);
void meanPlanes(const NarrowPlanes& narrow, int64_t planes, const float* x, float* y);

}  // namespace opkit::ops::pool
