// Vector operations on rows of floats, for softmax, normalisation, reduction and pooling kernels.
//
// Compiled once per instruction set and chosen at run time. Pointers need no alignment; an output may be one of
// the inputs, but must not overlap it otherwise. A result depends on the instruction set, never on how a caller
// splits its work into calls per row. Pure functions, thread-safe. A NaN in an input is a NaN in the result.
#pragma once

#include <cstdint>

#include "engine/tensor/half.h"

namespace opkit::cpu {

/// Folds of `count` elements. No elements give 0 for sums, -inf for max and +inf for min. A NaN wins. Sums are kept in
/// double, so that cancelling terms leave no error.
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

/// A product of two matrices; columns are contiguous in b and in y; strides apply to rows and depth.
struct SmallProduct {
  int64_t rows, columns, depth;
  int64_t aRow, aDepth, bDepth, yRow;
  double low, high;  // of the clamp; a NaN stays
};
/// Each element adds its terms in order, like the kernels in gemm/ for a depth of one block: the bits are the same.
void multiplySmall(const SmallProduct& product, const float* a, const float* b, float* y);
void multiplySmall(const SmallProduct& product, const double* a, const double* b, double* y);

/// y[j * yRow + i] = x[i * xRow + j] for `rows` of i, `columns` of j. They do not overlap.
void transpose(const float* x, int64_t xRow, int64_t rows, int64_t columns, float* y, int64_t yRow);

/// Clamps y to [low, high].
void clampTo(float low, float high, float* y, int64_t count);
/// y = (x - centre) * factor + constant. Not x * factor + another constant: for x near a large centre, that would
/// subtract two large products and lose precision.
void affine(const float* x, float centre, float factor, float constant, float* y, int64_t count);
/// y = x / divisor.
void divide(const float* x, float divisor, float* y, int64_t count);
/// y = sqrt(x)
void squareRoot(const float* x, float* y, int64_t count);
/// y = x / divisor, element by element.
void divideBy(const float* x, const float* divisor, float* y, int64_t count);
/// y = (x - mean) * factor * scale + bias, where scale and bias are rows; a null scale is 1, a null bias 0. The mean is
/// used in double precision.
void normalise(const float* x, double mean, double factor, const float* scale, const float* bias, float* y,
               int64_t count);
/// The same with one scale and one bias for all.
void normalise(const float* x, double mean, double factor, float scale, float bias, float* y, int64_t count);

/// y = e^(x - shift); returns the sum of y. y may be null when only the sum is wanted.
float expOf(const float* x, float shift, float* y, int64_t count);
/// The same in fewer steps. REQUIRES x <= shift, or NaN.
float expBelow(const float* x, float shift, float* y, int64_t count);
/// y = e^(x - shift) and sum += y, REQUIRES x <= shift, or NaN; element by element; y may be null.
void expTo(const float* x, const float* shift, float* y, float* sum, int64_t count);
/// y = log(x)
void logOf(const float* x, float* y, int64_t count);
/// y = x - first - second, element by element.
void subtract(const float* x, const float* first, const float* second, float* y, int64_t count);

/// y = x, exactly.
void widenHalves(const Half* x, float* y, int64_t count);
/// y = x, rounded to nearest even.
void roundToHalves(const float* x, Half* y, int64_t count);

}  // namespace opkit::cpu
