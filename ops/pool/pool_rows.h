// The inner loops of the CPU's pooling kernels, per instruction set. Pure functions, thread-safe.
#pragma once

#include <cstdint>
#include <vector>

namespace opkit::ops::pool {

/// Elements between the rows of a window: neighbours along the first of three axes, and along the second.
struct RowSteps {
  int64_t deep = 0, high = 0;
};
/// The input rows that a row of outputs reads: `high` of them in each of `deep` slices; both are 0 without any.
struct RowTaps {
  int64_t first;  // row of the plane
  int64_t deep, high;
};
/// Joins rows into one: y[i] is the largest (the sum) of x[j * steps.deep + k * steps.high + i] over the taps j and k;
/// -infinity (0) without taps. A NaN wins. Each slice is summed by itself first.
void maxRows(const float* x, const RowSteps& steps, const RowTaps& taps, float* y, int64_t count);
void sumRows(const float* x, const RowSteps& steps, const RowTaps& taps, float* y, int64_t count);

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

/// The windows of a plane. `columns` and `divisors` are for narrow planes: those whose rows and rows of outputs are
/// shorter than two vectors, so that all between load and store stays in registers.
struct PlaneWindows {
  int64_t width = 0, height = 0;  // of the inputs; the rows of all slices count as height
  RowSteps steps;
  int64_t columnTaps = 0;
  std::vector<RowTaps> rows;     // per row of outputs
  std::vector<int32_t> columns;  // [tap, outputs of a row]: the input column; `width` for padding
  std::vector<float> divisors;   // [row, outputs of a row]: for means
};
/// Widths of inputs and outputs that are narrow; 0 if none is.
int64_t mostNarrow();
/// `planes` planes that follow each other. A NaN wins.
void maxPlanes(const PlaneWindows& windows, int64_t planes, const float* x, float* y);
void meanPlanes(const PlaneWindows& windows, int64_t planes, const float* x, float* y);

}  // namespace opkit::ops::pool
