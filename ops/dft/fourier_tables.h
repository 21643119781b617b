// Lengths, factors and roots of unity of fast Fourier transforms, as tables for kernels. Made at resize, in double.
// Plain values, thread-safe.
#pragma once

#include <complex>
#include <cstdint>
#include <vector>

namespace opkit::ops::dft {

/// exp(-2 pi i k / n), each part correct to an ULP of double. REQUIRES n >= 1 and 0 <= k.
std::complex<double> rootOfUnity(int64_t k, int64_t n);
/// exp(-pi i j^2 / n): the chirp of Bluestein's transform of n points.
std::complex<double> chirpAt(int64_t j, int64_t n);

/// Factors of n from 2, 3, 4, 5, 7, 11 and 13, largest first, in the order of the passes; empty if n has another prime
/// factor or is 1.
std::vector<int> radicesOf(int64_t n);
/// Whether radicesOf can split n; true for 1.
bool isSmooth(int64_t n);
/// The least multiple of 4 from `least` on whose prime factors are 2, 3 and 5.
int64_t smoothFrom(int64_t least);
/// The largest divisor of n up to its square root.
int64_t divisorNearRoot(int64_t n);

/// One pass of Stockham's transform: `rest` groups of `radix` elements, each `before` times.
struct FourierStage {
  int radix = 1;
  int64_t before = 1;   // product of the radices of the passes before
  int64_t rest = 1;     // product of those behind
  size_t twiddles = 0;  // where they begin: [rest][radix - 1] complex numbers exp(-2 pi i p k / (radix * rest))
  size_t roots = 0;     // odd radices: `radix` complex numbers cos, sin of 2 pi j / radix
};

/// The passes of a transform of `points`, which is smooth.
template <class T>
struct FourierStages {
  int64_t points = 1;
  std::vector<FourierStage> list;
  std::vector<T> numbers;

  static FourierStages of(int64_t points);
};

/// Complex numbers, real and imaginary parts apart.
template <class T>
struct Planes {
  std::vector<T> re, im;

  void add(std::complex<double> value) {
    re.push_back(static_cast<T>(value.real()));
    im.push_back(static_cast<T>(value.imag()));
  }
};

/// Tables of one transform of `points`. A length that is not smooth becomes a cyclic convolution with a chirp, of
/// `size` points (Bluestein 1970). A transform that is split has `first` points along one axis of its row
/// [first][second], a product with `twiddles` and then `second` along the other.
template <class T>
struct FourierTables {
  int64_t points = 1;
  int64_t size = 1;
  int64_t first = 1, second = 1;
  FourierStages<T> firstStages, secondStages;  // not split: `first` is all of it
  Planes<T> twiddles;                          // [first][second]
  Planes<T> chirp;                             // [points]; empty if the length is smooth
  Planes<T> spectrum;                          // [size]: of the chirp's conjugate, divided by `size`

  bool usesChirp() const { return size != points; }
  bool isSplit() const { return second > 1; }
  static FourierTables of(int64_t points, bool split);
};

/// The transform of the conjugate of the chirp of `points`, wrapped around `size` points and divided by it.
std::vector<std::complex<double>> chirpSpectrum(int64_t points, int64_t size);
/// The points of the convolution for `points`; `points` itself if it is smooth.
int64_t convolutionSize(int64_t points);

/// exp(-2 pi i k / n) for k up to n / 2: for transforms of real rows of an even length n in n / 2 points.
template <class T>
Planes<T> halfRoots(int64_t n) {
  Planes<T> roots;
  for (int64_t k = 0; k <= n / 2; ++k) roots.add(rootOfUnity(k, n));
  return roots;
}

}  // namespace opkit::ops::dft
