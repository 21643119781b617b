// Rows of doubles: the functions of vector_ops.h that kernels with the element type as a template parameter call for
// f64. Plain loops: f64 is rare, and memory bounds most of these.
//
// An output may be the input. Pure functions, thread-safe. A NaN in an input is a NaN in the result.
#pragma once

#include <cmath>
#include <cstdint>

namespace opkit::cpu {

/// Sum of term(x[i]) in four parts, so that additions do not wait for each other.
template <class Term>
double foldDoubles(const double* x, int64_t count, const Term& term) {
  double part[4] = {};
  int64_t i = 0;
  for (; i + 4 <= count; i += 4)
    for (int64_t k = 0; k < 4; ++k) part[k] += term(x[i + k]);
  for (; i < count; ++i) part[0] += term(x[i]);
  return (part[0] + part[1]) + (part[2] + part[3]);
}
inline double sumOf(const double* x, int64_t count) {
  return foldDoubles(x, count, [](double value) { return value; });
}
inline double deviationOf(const double* x, double mean, int64_t count) {
  return foldDoubles(x, count, [mean](double value) { return (value - mean) * (value - mean); });
}
/// -inf if there is none.
inline double maxOf(const double* x, int64_t count) {
  constexpr int64_t kParts = 8;  // so that comparisons do not wait for each other
  const auto larger = [](double value, double best) { return (value > best) | (value != value) ? value : best; };
  double part[kParts];
  for (double& best : part) best = -INFINITY;
  int64_t i = 0;
  for (; i + kParts <= count; i += kParts)
    for (int64_t k = 0; k < kParts; ++k) part[k] = larger(x[i + k], part[k]);
  for (; i < count; ++i) part[0] = larger(x[i], part[0]);
  for (const double best : part) part[0] = larger(best, part[0]);
  return part[0];
}

/// y = (x - centre) * factor + constant
inline void affine(const double* x, double centre, double factor, double constant, double* y, int64_t count) {
  for (int64_t i = 0; i < count; ++i) y[i] = (x[i] - centre) * factor + constant;
}
/// y = (x - mean) * factor * scale + bias by position; a null scale is 1, a null bias 0.
inline void normalise(const double* x, double mean, double factor, const double* scale, const double* bias, double* y,
                      int64_t count) {
  for (int64_t i = 0; i < count; ++i) y[i] = (x[i] - mean) * factor * (scale ? scale[i] : 1.0) + (bias ? bias[i] : 0.0);
}
inline void normalise(const double* x, double mean, double factor, double scale, double bias, double* y,
                      int64_t count) {
  for (int64_t i = 0; i < count; ++i) y[i] = (x[i] - mean) * factor * scale + bias;
}

}  // namespace opkit::cpu
