// Rows of Resample on the CPU: plain loops that the compiler turns into vectors of each instruction set. Sums are float
// for f32, double for f64 and integers. Pure functions, thread-safe.
#pragma once

#include <cstdint>

namespace opkit::ops::resize {

/// sums[i] is the sum of weights[t] * x[starts[t] + i] over t in [0, taps); REQUIRES taps >= 1.
#define OPKIT_RESAMPLE_BLEND(T, A) \
  void blendRows(const T* x, const int64_t* starts, const A* weights, int64_t taps, A* sums, int64_t count);
/// y[i] = sums[i]; to an integer as kWholeSlack says, within its range.
#define OPKIT_RESAMPLE_STORE(T, A) void storeRow(const A* sums, T* y, int64_t count);
#define OPKIT_RESAMPLE_TYPES(F) \
  F(float, float)               \
  F(int8_t, double)             \
  F(uint8_t, double) F(double, double) F(int16_t, double) F(uint16_t, double) F(int32_t, double) F(uint32_t, double)

OPKIT_RESAMPLE_TYPES(OPKIT_RESAMPLE_BLEND)
OPKIT_RESAMPLE_TYPES(OPKIT_RESAMPLE_STORE)
#undef OPKIT_RESAMPLE_BLEND
#undef OPKIT_RESAMPLE_STORE

/// Taps along a row, all first taps, then all second ones, ...
template <class A>
struct RowTaps {
  const int32_t* at;
  const A* weights;
  int64_t taps;
  int64_t count;  // outputs
};
/// sums[o] is the sum of weights[t][o] * row[at[t][o]].
void gatherSums(const float* row, const RowTaps<float>& taps, float* sums);
void gatherSums(const double* row, const RowTaps<double>& taps, double* sums);

/// Twice as many elements: sums[2 i] = near * row[i] + far * row[i - 1], sums[2 i + 1] = near * row[i] + far * row[i +
/// 1]. A neighbour beyond an end is the end itself. REQUIRES count >= 1.
void doubleSums(const float* row, float near, float far, float* sums, int64_t count);

/// y[o] = row[at[o]].
void gatherWords(const uint8_t* row, const int32_t* at, uint8_t* y, int64_t count);
void gatherWords(const uint16_t* row, const int32_t* at, uint16_t* y, int64_t count);
void gatherWords(const uint32_t* row, const int32_t* at, uint32_t* y, int64_t count);
void gatherWords(const uint64_t* row, const int32_t* at, uint64_t* y, int64_t count);
/// Every word twice: y has 2 * count words.
void doubleWords(const uint8_t* row, uint8_t* y, int64_t count);
void doubleWords(const uint16_t* row, uint16_t* y, int64_t count);
void doubleWords(const uint32_t* row, uint32_t* y, int64_t count);
void doubleWords(const uint64_t* row, uint64_t* y, int64_t count);

}  // namespace opkit::ops::resize
