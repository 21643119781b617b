// Det by rotations of rows (Givens), which need no pivots: the kernels eliminate instead. The error that the bound
// allows is that of elimination. By Cramer's rule an element's error counts as often as its cofactor; elimination
// changes element (i, j) by about sqrt(n) roundings of (|L| |U|)(i, j), independently.
#include <cmath>

#include "engine/op/oracle_elements.h"
#include "ops/det/det_parts.h"

namespace opkit::ops::det {
namespace {

using Real = long double;
using Matrix = std::vector<std::vector<Real>>;

Matrix matrixAt(const OracleTensor& x, size_t i) {
  const auto n = static_cast<size_t>(x.shape().back());
  Matrix a(n, std::vector<Real>(n));
  for (size_t r = 0; r < n; ++r)
    for (size_t c = 0; c < n; ++c) a[r][c] = x.real[(i * n + r) * n + c];
  return a;
}

/// Turns rows until the matrix is triangular; its determinant is the product of the diagonal.
Real determinant(Matrix a) {
  const size_t n = a.size();
  Real product = 1;
  for (size_t k = 0; k < n; ++k) {
    for (size_t r = k + 1; r < n; ++r) {
      const Real length = std::hypot(a[k][k], a[r][k]);
      if (length == 0) continue;
      const Real cosine = a[k][k] / length, sine = a[r][k] / length;
      for (size_t c = k; c < n; ++c) {
        const Real upper = a[k][c], lower = a[r][c];
        a[k][c] = cosine * upper + sine * lower;
        a[r][c] = cosine * lower - sine * upper;
      }
    }
    product *= a[k][k];
  }
  return product;
}

/// The result of elimination: the rows in the order of their pivots, the factors below the diagonal.
struct Elimination {
  Matrix factors;
  std::vector<size_t> rows;
  Real product = 1;
  size_t tiny = 0;  // pivots that rounding may have made

  explicit Elimination(Matrix a) : factors(std::move(a)), rows(factors.size()), grown_(factors) {
    for (size_t r = 0; r < rows.size(); ++r) rows[r] = r;
    for (std::vector<Real>& row : grown_)
      for (Real& value : row) largest_ = std::max(largest_, value = std::fabs(value));
    for (size_t k = 0; k < rows.size(); ++k) step(k);
  }

 private:
  void step(size_t k) {
    size_t best = k;
    for (size_t r = k; r < rows.size(); ++r)
      if (std::fabs(factors[r][k]) > std::fabs(factors[best][k])) best = r;
    std::swap(factors[k], factors[best]);
    std::swap(grown_[k], grown_[best]);
    std::swap(rows[k], rows[best]);
    if (best != k) product = -product;
    const Real scale = grown_[k][k] > 0 ? grown_[k][k] : largest_;
    if (std::fabs(factors[k][k]) <= 1e-12L * scale) ++tiny;
    if (std::fabs(factors[k][k]) <= 1e-24L * scale) factors[k][k] = 1e-24L * scale;  // cofactors need an inverse
    product *= factors[k][k];
    for (size_t r = k + 1; r < rows.size(); ++r) {
      factors[r][k] /= factors[k][k];
      for (size_t c = k + 1; c < rows.size(); ++c) {
        const Real term = factors[r][k] * factors[k][c];
        factors[r][c] -= term;
        grown_[r][c] += std::fabs(term);
      }
    }
  }

  /// Magnitudes of all terms that an element was made of: a pivot is tiny beside its own terms. Beside the largest
  /// element, a pivot of a matrix with rows or columns of different scales would seem so too.
  Matrix grown_;
  Real largest_ = 1e-300L;
};

/// Row i of the cofactors of the matrix with its rows in the order of the pivots: the product times row i of the
/// transposed inverse.
std::vector<Real> cofactors(const Elimination& e, size_t i) {
  const size_t n = e.rows.size();
  std::vector<Real> column(n, 0);
  column[i] = e.product;
  for (size_t r = 0; r < n; ++r)
    for (size_t c = 0; c < r; ++c) column[r] -= e.factors[r][c] * column[c];
  for (size_t r = n; r-- > 0;) {
    for (size_t c = r + 1; c < n; ++c) column[r] -= e.factors[r][c] * column[c];
    column[r] /= e.factors[r][r];
  }
  return column;
}

/// (|L| |U|)(i, j).
Real changeOf(const Elimination& e, size_t i, size_t j) {
  Real sum = 0;
  for (size_t k = 0; k <= std::min(i, j); ++k)
    sum += (k == i ? 1 : std::fabs(e.factors[i][k])) * std::fabs(e.factors[k][j]);
  return sum;
}

double magnitudeOf(const Matrix& a) {
  const Elimination e(a);
  Real squares = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    const std::vector<Real> weights = cofactors(e, i);
    for (size_t j = 0; j < a.size(); ++j) {
      const Real term = weights[j] * changeOf(e, i, j);
      squares += term * term;
    }
  }
  Real magnitude = std::sqrt(squares);
  if (e.tiny < 2) return static_cast<double>(magnitude);
  Real volume = 0x1p-24L * static_cast<Real>(a.size());  // where all cofactors vanish, errors count by pairs
  for (const std::vector<Real>& row : a) {
    Real length = 0;
    for (const Real value : row) length += value * value;
    volume *= std::sqrt(length);
  }
  return static_cast<double>(magnitude + volume);
}

}  // namespace

Status reference(const OracleArgs& args) {
  const OracleTensor& x = args.input(0);
  OracleTensor& y = args.output();
  y.terms = x.shape().back();
  for (size_t i = 0; i < y.real.size(); ++i) {
    const Matrix a = matrixAt(x, i);
    y.real[i] = static_cast<double>(determinant(a));
    if (args.wantMagnitude) y.magnitude.push_back(magnitudeOf(a));
  }
  return Status::ok();
}

}  // namespace opkit::ops::det
