// One row of a Fourier transform in long double, for oracles.
//
// Up to kDirect points the definition is summed as it stands, with the product of both indices reduced modulo the
// length before any angle is made. Longer rows are split by their prime factors. A prime length becomes a cyclic
// convolution of its powers of a generator (Rader 1968). No kernel uses these ways.
#pragma once

#include <cstdint>
#include <vector>

namespace opkit::ops::dft {

struct Number {
  long double re = 0, im = 0;
};
using NumberRow = std::vector<Number>;

inline constexpr int64_t kDirect = 1024;

/// Sums of x[j] * exp(-2 pi i j k / n) for each k, n = x.size() > 0.
NumberRow transformedRow(const NumberRow& x);

}  // namespace opkit::ops::dft
