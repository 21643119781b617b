#include "ops/dft/fourier_rows.h"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/dft/fourier_rows_wide.cpp"
#include "engine/backend/cpu/foreach_target.h"

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace opkit::ops::dft {
namespace HWY_NAMESPACE {

/// Distances known to the compiler make vectors.
template <class T>
void read(const T* x, NumberPlaces places, const T* window, NumberPlaces windowPlaces, int64_t count, PlaneView<T> to) {
  T* __restrict re = to.re;
  T* __restrict im = to.im;
  const int64_t step = places.step, other = places.other;
  if (!window && step == 2 && other == 1) {
    for (int64_t i = 0; i < count; ++i) re[i] = x[2 * i], im[i] = x[2 * i + 1];
  } else if (!window) {
    for (int64_t i = 0; i < count; ++i) re[i] = x[i * step], im[i] = x[i * step + other];
  } else if (step == 2 && other == 1 && windowPlaces.step == 2 && windowPlaces.other == 1) {
    for (int64_t i = 0; i < count; ++i) re[i] = x[2 * i] * window[2 * i], im[i] = x[2 * i + 1] * window[2 * i + 1];
  } else {
    for (int64_t i = 0; i < count; ++i) {
      const T* factor = window + i * windowPlaces.step;
      re[i] = x[i * step] * factor[0], im[i] = x[i * step + other] * factor[windowPlaces.other];
    }
  }
}

template <class T>
void readReal(const T* x, int64_t step, const T* window, int64_t count, T* __restrict re) {
  if (!window)
    for (int64_t i = 0; i < count; ++i) re[i] = x[i * step];
  else
    for (int64_t i = 0; i < count; ++i) re[i] = x[i * step] * window[i];
}

template <class T>
void write(PlaneView<const T> from, T scale, int64_t count, T* __restrict y, NumberPlaces places) {
  if (places.step == 2 && places.other == 1)
    for (int64_t i = 0; i < count; ++i) y[2 * i] = from.re[i] * scale, y[2 * i + 1] = from.im[i] * scale;
  else
    for (int64_t i = 0; i < count; ++i) {
      y[i * places.step] = from.re[i] * scale;
      y[i * places.step + places.other] = from.im[i] * scale;
    }
}

template <class T>
void writeReal(const T* re, T scale, int64_t count, T* __restrict y, int64_t step) {
  for (int64_t i = 0; i < count; ++i) y[i * step] = re[i] * scale;
}

template <class T>
void multiply(PlaneView<const T> factors, int64_t count, PlaneView<T> row) {
  T* __restrict re = row.re;
  T* __restrict im = row.im;
  for (int64_t i = 0; i < count; ++i) {
    const T value = re[i];
    re[i] = value * factors.re[i] - im[i] * factors.im[i];
    im[i] = value * factors.im[i] + im[i] * factors.re[i];
  }
}

/// With the spectra E and O of the even and the odd elements, Z[k] = E[k] + i O[k] and Y[k] = E[k] + root[k] O[k].
template <class T>
void unpackAt(PlaneView<const T> z, PlaneView<const T> roots, int64_t k, int64_t near, int64_t far, PlaneView<T> y) {
  const T half = T(0.5);
  const T evenRe = half * (z.re[near] + z.re[far]), evenIm = half * (z.im[near] - z.im[far]);
  const T oddRe = half * (z.im[near] + z.im[far]), oddIm = half * (z.re[far] - z.re[near]);
  y.re[k] = evenRe + (roots.re[k] * oddRe - roots.im[k] * oddIm);
  y.im[k] = evenIm + (roots.re[k] * oddIm + roots.im[k] * oddRe);
}

template <class T>
void unpack(PlaneView<const T> z, PlaneView<const T> roots, int64_t half, int64_t from, int64_t to, PlaneView<T> y) {
  if (from == 0) unpackAt(z, roots, 0, 0, 0, y);
  const T* __restrict re = z.re;
  const T* __restrict im = z.im;
  PlaneView<T> out = y;
  for (int64_t k = std::max<int64_t>(from, 1); k < std::min(to, half); ++k)
    unpackAt<T>({re, im}, roots, k, k, half - k, out);
  if (to > half) unpackAt(z, roots, half, 0, 0, y);
}

/// X[k] + conj X[half - k] + i conj(root[k]) (X[k] - conj X[half - k])
template <class T>
void packAt(PlaneView<const T> x, PlaneView<const T> roots, int64_t k, int64_t far, PlaneView<T> z) {
  const T sumRe = x.re[k] + x.re[far], sumIm = x.im[k] - x.im[far];
  const T restRe = x.re[k] - x.re[far], restIm = x.im[k] + x.im[far];
  const T oddRe = roots.re[k] * restRe + roots.im[k] * restIm, oddIm = roots.re[k] * restIm - roots.im[k] * restRe;
  z.re[k] = sumRe - oddIm;
  z.im[k] = sumIm + oddRe;
}

template <class T>
void pack(PlaneView<const T> x, PlaneView<const T> roots, int64_t half, int64_t from, int64_t to, PlaneView<T> z) {
  for (int64_t k = from; k < to; ++k) packAt(x, roots, k, half - k, z);
}

template <class T>
FourierRowLoops<T> loops() {
  return {&read<T>, &readReal<T>, &write<T>, &writeReal<T>, &multiply<T>, &unpack<T>, &pack<T>};
}
FourierRowLoops<float> floatLoops() { return loops<float>(); }
FourierRowLoops<double> doubleLoops() { return loops<double>(); }

}  // namespace HWY_NAMESPACE
}  // namespace opkit::ops::dft
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace opkit::ops::dft {
HWY_EXPORT(floatLoops);
HWY_EXPORT(doubleLoops);
template <>
FourierRowLoops<float> rowLoops() {
  return HWY_DYNAMIC_DISPATCH(floatLoops)();
}
template <>
FourierRowLoops<double> rowLoops() {
  return HWY_DYNAMIC_DISPATCH(doubleLoops)();
}
}  // namespace opkit::ops::dft
#endif
