// Vector operations on rows of floats: what softmax, normalisation, reduction and pooling kernels are made of.
//
// Compiled once per instruction set and chosen at run time. Pointers need no alignment; an output may be one of
// the inputs, but must not overlap it otherwise. A result depends on the instruction set, never on how a caller
// splits its work into calls per row. Pure functions, thread-safe. A NaN in an input is a NaN in the result.
#pragma once

#include <cstdint>

namespace opkit::cpu {

/// Folds of `count` elements; nothing gives 0 for sums and the infinity that loses for max and min. A NaN wins.
/// Sums are kept in double, so that what cancels leaves no trace.
double sumOf(const float* x, int64_t count);
double absoluteSumOf(const float* x, int64_t count);
double squareSumOf(const float* x, int64_t count);
/// Sum of (x - mean)^2.
double deviationOf(const float* x, double mean, int64_t count);
float maxOf(const float* x, int64_t count);
float minOf(const float* x, int64_t count);

/// Element by element: y += x, y += |x|, y += x^2, y = max(y, x), y = min(y, x).
void addTo(const float* x, float* y, int64_t count);
void addAbsoluteTo(const float* x, float* y, int64_t count);
void addSquareTo(const float* x, float* y, int64_t count);
void maxTo(const float* x, float* y, int64_t count);
void minTo(const float* x, float* y, int64_t count);

/// A product of two matrices whose columns are neighbours in b and in y; strides are of rows and of the depth.
struct SmallProduct {
  int64_t rows, columns, depth;
  int64_t aRow, aDepth, bDepth, yRow;
  float low, high;  // of the clamp; a NaN stays
};
/// Element by element the terms are added in order, as by the kernels in gemm/ for a depth of one block: the same bits.
void multiplySmall(const SmallProduct& product, const float* a, const float* b, float* y);

/// y into [low, high].
void clampTo(float low, float high, float* y, int64_t count);
/// y = (x - centre) * factor + constant. Not x * factor + another constant: where x is near a large centre, that would
/// subtract two large products and keep little of either.
void affine(const float* x, float centre, float factor, float constant, float* y, int64_t count);
/// y = x / divisor.
void divide(const float* x, float divisor, float* y, int64_t count);
/// y = x / divisor, element by element.
void divideBy(const float* x, const float* divisor, float* y, int64_t count);
/// y = (x - mean) * factor * scale + bias, where scale and bias are rows; a null scale is 1, a null bias 0. The
/// mean counts with more digits than a float has.
void normalise(const float* x, double mean, float factor, const float* scale, const float* bias, float* y,
               int64_t count);

/// y = e^(x - shift); returns the sum of y. y may be null when only the sum is wanted.
float expOf(const float* x, float shift, float* y, int64_t count);
/// y = e^(x - shift) and sum += y, element by element; y may be null.
void expTo(const float* x, const float* shift, float* y, float* sum, int64_t count);
/// y = x - shift - log(sum), element by element.
void logNormalise(const float* x, const float* shift, const float* sum, float* y, int64_t count);

}  // namespace opkit::cpu
