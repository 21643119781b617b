#include "ops/dft/fourier_tables.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "ops/dft/fourier_core.h"

namespace opkit::ops::dft {
namespace {

/// Removes factor p from `rest` and adds it to `radices`, as often as it divides.
void takeFactor(int p, int64_t& rest, std::vector<int>& radices) {
  for (; rest % p == 0; rest /= p) radices.push_back(p);
}

template <class T>
void addNumber(std::vector<T>& numbers, std::complex<double> value) {
  numbers.push_back(static_cast<T>(value.real()));
  numbers.push_back(static_cast<T>(value.imag()));
}

template <class T>
void setTwiddles(FourierTables<T>& tables) {
  for (int64_t k = 0; k < tables.first; ++k)
    for (int64_t c = 0; c < tables.second; ++c) tables.twiddles.add(rootOfUnity(k * c % tables.size, tables.size));
  for (int64_t i = 0; i < planeSlack<T>(); ++i) tables.twiddles.add(0);
}

}  // namespace

std::complex<double> rootOfUnity(int64_t k, int64_t n) {
  k %= n;
  const int64_t eighths = 8 * k / n;       // of the turn
  const int64_t near = (eighths + 1) / 2;  // the nearest quarter
  const int64_t rest = 4 * k - near * n;   // from there, in units of a quarter / n: at most half of one
  const double angle = std::numbers::pi / 2 * (static_cast<double>(rest) / static_cast<double>(n));
  const double cosine = std::cos(angle), sine = std::sin(angle);
  switch (near % 4) {
    case 0: return {cosine, -sine};
    case 1: return {-sine, -cosine};
    case 2: return {-cosine, sine};
    default: return {sine, cosine};
  }
}

std::complex<double> chirpAt(int64_t j, int64_t n) { return rootOfUnity(j * j % (2 * n), 2 * n); }

std::vector<int> radicesOf(int64_t n) {
  std::vector<int> radices;
  for (const int p : {13, 11, 7, 5, 4, 3, 2}) takeFactor(p, n, radices);
  if (n != 1) radices.clear();
  return radices;
}

bool isSmooth(int64_t n) { return n == 1 || !radicesOf(n).empty(); }

int64_t smoothFrom(int64_t least) {
  for (int64_t n = (least + 3) / 4 * 4;; n += 4) {
    int64_t rest = n;
    for (const int64_t p : {2, 3, 5})
      while (rest % p == 0) rest /= p;
    if (rest == 1) return n;
  }
}

int64_t divisorNearRoot(int64_t n) {
  auto divisor = static_cast<int64_t>(std::sqrt(static_cast<double>(n)));
  while (n % divisor != 0) --divisor;
  return divisor;
}

int64_t convolutionSize(int64_t points) { return isSmooth(points) ? points : smoothFrom(2 * points - 1); }

template <class T>
FourierStages<T> FourierStages<T>::of(int64_t points) {
  FourierStages stages{.points = points, .list = {}, .numbers = {}};
  FourierStage stage{.rest = points};
  for (const int radix : radicesOf(points)) {
    stage.radix = radix;
    stage.rest /= radix;
    stage.twiddles = stages.numbers.size();
    for (int64_t p = 0; p < stage.rest; ++p)
      for (int64_t k = 1; k < radix; ++k) addNumber(stages.numbers, rootOfUnity(p * k, radix * stage.rest));
    stage.roots = stages.numbers.size();
    for (int64_t j = 0; radix % 2 == 1 && j < radix; ++j) addNumber(stages.numbers, std::conj(rootOfUnity(j, radix)));
    stages.list.push_back(stage);
    stage.before *= radix;
  }
  return stages;
}

template <class T>
FourierTables<T> FourierTables<T>::of(int64_t points, bool split) {
  FourierTables tables;
  tables.points = points;
  tables.size = convolutionSize(points);
  tables.second = split ? divisorNearRoot(tables.size) : 1;
  tables.first = tables.size / tables.second;
  tables.firstStages = FourierStages<T>::of(tables.first);
  tables.secondStages = FourierStages<T>::of(tables.second);
  if (tables.isSplit()) setTwiddles(tables);
  if (!tables.usesChirp()) return tables;
  for (int64_t j = 0; j < points; ++j) tables.chirp.add(chirpAt(j, points));
  for (const std::complex<double>& value : chirpSpectrum(points, tables.size)) tables.spectrum.add(value);
  return tables;
}

std::vector<std::complex<double>> chirpSpectrum(int64_t points, int64_t size) {
  std::vector<std::complex<double>> values(static_cast<size_t>(size));
  for (int64_t j = 0; j < points; ++j) {
    const std::complex<double> value = std::conj(chirpAt(j, points)) / static_cast<double>(size);
    values[static_cast<size_t>(j)] = value;
    if (j > 0) values[static_cast<size_t>(size - j)] = value;
  }
  transformOnHost(values);
  return values;
}

template struct FourierStages<float>;
template struct FourierStages<double>;
template struct FourierTables<float>;
template struct FourierTables<double>;

}  // namespace opkit::ops::dft
