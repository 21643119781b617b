#include "ops/dft/row_reference.h"

#include <cmath>
#include <map>
#include <numbers>

namespace opkit::ops::dft {
namespace {

constexpr int64_t kDirectPart = 32;  // of a row that is split anyway

Number plus(Number a, Number b) { return {a.re + b.re, a.im + b.im}; }
Number times(Number a, Number b) { return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re}; }

/// exp(-2 pi i k / n): the quarter turns are exact.
Number rootOf(int64_t k, int64_t n) {
  const int64_t quarters = 4 * k / n, rest = 4 * k - quarters * n;
  const long double angle = std::numbers::pi_v<long double> / 2 * static_cast<long double>(rest) / n;
  Number root{std::cos(angle), -std::sin(angle)};
  for (int64_t turn = 0; turn < quarters % 4; ++turn) root = {root.im, -root.re};
  return root;
}

/// The roots of each length, made once for all parts of a row.
class RootTable {
 public:
  const NumberRow& of(int64_t n) {
    NumberRow& roots = tables_[n];
    if (roots.empty())
      for (int64_t k = 0; k < n; ++k) roots.push_back(rootOf(k, n));
    return roots;
  }

 private:
  std::map<int64_t, NumberRow> tables_;
};

NumberRow directSums(const NumberRow& x, RootTable& table) {
  const auto n = static_cast<int64_t>(x.size());
  const NumberRow& roots = table.of(n);
  NumberRow y(x.size());
  for (int64_t k = 0; k < n; ++k)
    for (int64_t j = 0; j < n; ++j)
      y[static_cast<size_t>(k)] =
          plus(y[static_cast<size_t>(k)], times(x[static_cast<size_t>(j)], roots[static_cast<size_t>(j * k % n)]));
  return y;
}

int64_t leastFactor(int64_t n) {
  for (int64_t p = 2; p * p <= n; ++p)
    if (n % p == 0) return p;
  return n;
}

int64_t powerModulo(int64_t base, int64_t exponent, int64_t n) {
  int64_t value = 1;
  for (; exponent > 0; exponent /= 2, base = base * base % n)
    if (exponent % 2 == 1) value = value * base % n;
  return value;
}

/// The least number whose powers are all of 1 ... n - 1, for a prime n.
int64_t generatorOf(int64_t n) {
  for (int64_t g = 2;; ++g) {
    bool isGenerator = true;
    for (int64_t rest = n - 1; rest > 1 && isGenerator;) {
      const int64_t p = leastFactor(rest);
      isGenerator = powerModulo(g, (n - 1) / p, n) != 1;
      while (rest % p == 0) rest /= p;
    }
    if (isGenerator) return g;
  }
}

NumberRow splitSums(const NumberRow& x, RootTable& table);

/// Inverse transform of the products of both spectra: a cyclic convolution.
NumberRow convolved(const NumberRow& a, const NumberRow& b, RootTable& table) {
  const NumberRow first = splitSums(a, table), second = splitSums(b, table);
  NumberRow product(a.size());
  for (size_t i = 0; i < a.size(); ++i) {
    const Number value = times(first[i], second[i]);
    product[i] = {value.re, -value.im};
  }
  NumberRow y = splitSums(product, table);
  const auto count = static_cast<long double>(a.size());
  for (Number& value : y) value = {value.re / count, -value.im / count};
  return y;
}

NumberRow primeSums(const NumberRow& x, RootTable& table) {
  const auto n = static_cast<int64_t>(x.size());
  const int64_t g = generatorOf(n), inverse = powerModulo(g, n - 2, n);
  NumberRow values, roots;
  std::vector<size_t> places;
  for (int64_t i = 0, up = 1, down = 1; i < n - 1; ++i, up = up * g % n, down = down * inverse % n) {
    values.push_back(x[static_cast<size_t>(up)]);
    roots.push_back(rootOf(down, n));
    places.push_back(static_cast<size_t>(down));
  }
  const NumberRow sums = convolved(values, roots, table);
  NumberRow y(x.size(), x[0]);
  for (const Number& value : x) y[0] = plus(y[0], value);
  y[0] = {y[0].re - x[0].re, y[0].im - x[0].im};
  for (size_t i = 0; i < places.size(); ++i) y[places[i]] = plus(x[0], sums[i]);
  return y;
}

/// By the least prime factor p: p transforms of every p-th element, and sums of p terms.
NumberRow splitSums(const NumberRow& x, RootTable& table) {
  const auto n = static_cast<int64_t>(x.size());
  if (n <= kDirectPart) return directSums(x, table);
  const int64_t p = leastFactor(n), part = n / p;
  if (p == n) return primeSums(x, table);
  std::vector<NumberRow> parts;
  for (int64_t j = 0; j < p; ++j) {
    NumberRow every;
    for (int64_t i = 0; i < part; ++i) every.push_back(x[static_cast<size_t>(i * p + j)]);
    parts.push_back(splitSums(every, table));
  }
  const NumberRow& roots = table.of(n);
  NumberRow y(x.size());
  for (int64_t k = 0; k < n; ++k)
    for (int64_t j = 0; j < p; ++j) {
      const Number term = parts[static_cast<size_t>(j)][static_cast<size_t>(k % part)];
      y[static_cast<size_t>(k)] = plus(y[static_cast<size_t>(k)], times(term, roots[static_cast<size_t>(j * k % n)]));
    }
  return y;
}

}  // namespace

NumberRow transformedRow(const NumberRow& x) {
  RootTable table;
  return static_cast<int64_t>(x.size()) <= kDirect ? directSums(x, table) : splitSums(x, table);
}

}  // namespace opkit::ops::dft
