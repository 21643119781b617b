#include "ops/det/det_rows.h"

#include <algorithm>
#include <cmath>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/det/det_wide.cpp"
#include "engine/backend/cpu/foreach_target.h"

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace opkit::ops::det {
namespace HWY_NAMESPACE {

/// The row from `k` on with the largest element of column k. NaN is the largest.
int64_t pivotRow(const double* a, int64_t n, int64_t k) {
  int64_t best = k;
  for (int64_t row = k + 1; row < n; ++row)
    if (!(std::fabs(a[row * n + k]) <= std::fabs(a[best * n + k])) && !std::isnan(a[best * n + k])) best = row;
  return best;
}

/// to[i] -= factor * from[i].
HWY_INLINE void subtract(double factor, const double* __restrict from, double* __restrict to, int64_t count) {
  for (int64_t i = 0; i < count; ++i) to[i] -= factor * from[i];
}

void swapRows(double* a, int64_t n, int64_t k, int64_t pivot, PivotProduct& product) {
  if (pivot == k) return;
  std::swap_ranges(a + k * n, a + k * n + n, a + pivot * n);
  product.mantissa = -product.mantissa;
}

void multiply(PivotProduct& product, double pivot) {
  int shift = 0;
  product.mantissa = std::frexp(product.mantissa * pivot, &shift);
  product.exponent += shift;
}

void eliminatePanel(double* a, int64_t n, int64_t first, PivotProduct& product) {
  const int64_t end = std::min(first + kPanel, n);
  for (int64_t k = first; k < end; ++k) {
    swapRows(a, n, k, pivotRow(a, n, k), product);
    const double pivot = a[k * n + k];
    multiply(product, pivot);
    for (int64_t row = k + 1; row < n; ++row) {
      double* to = a + row * n;
      if (pivot != 0) to[k] /= pivot;
      for (int64_t column = k + 1; column < end; ++column) to[column] -= to[k] * a[k * n + column];
    }
  }
  for (int64_t k = first; k < end; ++k)
    for (int64_t row = k + 1; row < end; ++row) subtract(a[row * n + k], a + k * n + end, a + row * n + end, n - end);
}

/// A whole panel in one walk over the row.
HWY_INLINE void subtractPanel(const double* factors, const double* __restrict u, int64_t n, double* __restrict to,
                              int64_t count) {
  const double f0 = factors[0], f1 = factors[1], f2 = factors[2], f3 = factors[3];
  for (int64_t i = 0; i < count; ++i) to[i] -= (f0 * u[i] + f1 * u[n + i]) + (f2 * u[2 * n + i] + f3 * u[3 * n + i]);
}

void eliminateRows(double* a, int64_t n, int64_t first, int64_t begin, int64_t end) {
  const int64_t behind = first + kPanel;  // a last panel of fewer columns has nothing behind it
  for (int64_t row = begin; row < end; ++row)
    subtractPanel(a + row * n + first, a + first * n + behind, n, a + row * n + behind, n - behind);
}

Elimination find() { return {&eliminatePanel, &eliminateRows}; }

}  // namespace HWY_NAMESPACE
}  // namespace opkit::ops::det
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace opkit::ops::det {
HWY_EXPORT(find);
Elimination eliminationOf() { return HWY_DYNAMIC_DISPATCH(find)(); }

double PivotProduct::value() const {
  constexpr int64_t kBeyond = 4000;  // an exponent that overflows or underflows in any case
  return std::ldexp(mantissa, static_cast<int>(std::clamp(exponent, -kBeyond, kBeyond)));
}
}  // namespace opkit::ops::det
#endif
