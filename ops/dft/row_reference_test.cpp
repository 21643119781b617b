#include "ops/dft/row_reference.h"

#include <gtest/gtest.h>

#include <complex>
#include <numbers>

#include "ops/dft/fourier_tables.h"

namespace opkit::ops::dft {
namespace {

using Complex = std::complex<long double>;

Complex turn(int64_t k, int64_t n) {
  return std::polar(1.0L, -2 * std::numbers::pi_v<long double> * static_cast<long double>(k % n) / n);
}

/// Of rows longer than kDirect: a power of two, factors of two kinds, a prime, and twice a prime.
TEST(RowReference, SplitRowsAgreeWithTheDefinition) {
  for (const int64_t n : {2048, 1026, 1155, 1031, 2062}) {
    NumberRow x;
    for (int64_t j = 0; j < n; ++j)
      x.push_back({static_cast<long double>(j * j % 17) - 8, static_cast<long double>(j % 5) / 3});
    const NumberRow y = transformedRow(x);
    for (const int64_t k : {int64_t{0}, int64_t{1}, n / 2, n - 3}) {
      Complex sum = 0;
      for (int64_t j = 0; j < n; ++j) {
        const Number& value = x[static_cast<size_t>(j)];
        sum += Complex(value.re, value.im) * turn(j * k, n);
      }
      EXPECT_NEAR(static_cast<double>(y[static_cast<size_t>(k)].re - sum.real()), 0, 1e-12) << n << " at " << k;
      EXPECT_NEAR(static_cast<double>(y[static_cast<size_t>(k)].im - sum.imag()), 0, 1e-12) << n << " at " << k;
    }
  }
}

TEST(FourierTables, RootsAreAsGoodAsDoubles) {
  for (const int64_t n : {1, 2, 3, 4, 8, 12, 97, 1000, 65537})
    for (int64_t k = 0; k < n; k += 1 + n / 50) {
      const std::complex<double> root = rootOfUnity(k, n);
      EXPECT_NEAR(root.real(), static_cast<double>(turn(k, n).real()), 2e-16) << k << " of " << n;
      EXPECT_NEAR(root.imag(), static_cast<double>(turn(k, n).imag()), 2e-16) << k << " of " << n;
    }
  EXPECT_EQ(rootOfUnity(3, 12), std::complex<double>(0, -1));
  EXPECT_EQ(rootOfUnity(18, 12), std::complex<double>(-1, 0));
}

TEST(FourierTables, LengthsAreSplit) {
  EXPECT_EQ(radicesOf(400), (std::vector<int>{5, 5, 4, 4}));
  EXPECT_EQ(radicesOf(2 * 13 * 11 * 7 * 3), (std::vector<int>{13, 11, 7, 3, 2}));
  EXPECT_TRUE(radicesOf(17).empty());
  EXPECT_TRUE(isSmooth(1));
  EXPECT_EQ(convolutionSize(441), 441);
  EXPECT_EQ(convolutionSize(17), 36);
  EXPECT_EQ(smoothFrom(131073), 131220);
  EXPECT_EQ(divisorNearRoot(400), 20);
  EXPECT_EQ(divisorNearRoot(13), 1);
}

/// The convolution of a chirp with its conjugate is what makes the transform: their spectra are inverse to each other.
TEST(FourierTables, TheSpectrumOfTheChirpBelongsToIt) {
  constexpr int64_t kPoints = 61, kSize = 125;
  const auto spectrum = chirpSpectrum(kPoints, kSize);
  for (const int64_t j : {0, 1, 60}) {  // an element of the inverse transform is the chirp's conjugate
    std::complex<long double> sum = 0;
    for (int64_t k = 0; k < kSize; ++k)
      sum += Complex(spectrum[static_cast<size_t>(k)]) * std::conj(turn(j * k, kSize));
    EXPECT_NEAR(static_cast<double>(sum.real()), chirpAt(j, kPoints).real(), 1e-13) << j;
    EXPECT_NEAR(static_cast<double>(sum.imag()), -chirpAt(j, kPoints).imag(), 1e-13) << j;
  }
}

}  // namespace
}  // namespace opkit::ops::dft
