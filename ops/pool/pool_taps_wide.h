// One tap of pooling, joined into a run of outputs: plain loops that the compiler turns into vectors of each
// instruction set. Output o of a run reads x[o * stride]. Pure functions, thread-safe.
#pragma once

#include <cstdint>

namespace opkit::ops::pool {

/// best[o] becomes the larger; a NaN wins.
void largestTap(const float* x, int64_t stride, float* best, int64_t count);
void largestTap(const double* x, int64_t stride, double* best, int64_t count);
void largestTap(const int8_t* x, int64_t stride, int8_t* best, int64_t count);
void largestTap(const uint8_t* x, int64_t stride, uint8_t* best, int64_t count);
/// The same; at[o] becomes offset + o * stride where the tap replaces: the first of equal
/// taps stays, and the first NaN. A negative at[o] means that there was no tap yet.
void indexedTap(const float* x, int32_t offset, int64_t stride, float* best, int32_t* at, int64_t count);
void indexedTap(const double* x, int32_t offset, int64_t stride, double* best, int32_t* at, int64_t count);
void indexedTap(const int8_t* x, int32_t offset, int64_t stride, int8_t* best, int32_t* at, int64_t count);
void indexedTap(const uint8_t* x, int32_t offset, int64_t stride, uint8_t* best, int32_t* at, int64_t count);
/// The same for several taps in order, wherever they lie: tap k of output o is x[places[k * count + o]]; a negative
/// place is padding. at[o] becomes the place.
void indexedTaps(const float* x, const int32_t* places, int64_t taps, float* best, int32_t* at, int64_t count);
void indexedTaps(const double* x, const int32_t* places, int64_t taps, double* best, int32_t* at, int64_t count);
void indexedTaps(const int8_t* x, const int32_t* places, int64_t taps, int8_t* best, int32_t* at, int64_t count);
void indexedTaps(const uint8_t* x, const int32_t* places, int64_t taps, uint8_t* best, int32_t* at, int64_t count);

/// sums[o] += the tap.
void sumTap(const double* x, int64_t stride, double* sums, int64_t count);
/// sums[o] += the magnitude of the tap, and its square.
void sumMagnitudeTap(const float* x, int64_t stride, double* sums, int64_t count);
void sumMagnitudeTap(const double* x, int64_t stride, double* sums, int64_t count);
void sumSquareTap(const float* x, int64_t stride, double* sums, int64_t count);
void sumSquareTap(const double* x, int64_t stride, double* sums, int64_t count);

}  // namespace opkit::ops::pool
