// Loops over one row of a Fourier transform: between tensors and planes, and products with tables. Thread-safe.
#pragma once

#include "ops/dft/fourier_tables.h"

namespace opkit::ops::dft {

/// Where the parts of numbers lie in a tensor: number i at i * step, its other part `other` behind.
struct NumberPlaces {
  int64_t step = 2;
  int64_t other = 1;
};

/// Numbers in memory that others own.
template <class T>
struct PlaneView {
  T* re = nullptr;
  T* im = nullptr;

  PlaneView swapped() const { return {im, re}; }
  PlaneView from(int64_t i) const { return {re + i, im + i}; }
};

/// The loops for this processor. Each works on numbers [0, count) unless it says otherwise.
template <class T>
struct FourierRowLoops {
  /// to = x, times the window if it is not null. `window` lies at windowPlaces.
  void (*read)(const T* x, NumberPlaces places, const T* window, NumberPlaces windowPlaces, int64_t count,
               PlaneView<T> to);
  /// re = x[i * step], times the window if it is not null.
  void (*readReal)(const T* x, int64_t step, const T* window, int64_t count, T* re);
  void (*write)(PlaneView<const T> from, T scale, int64_t count, T* y, NumberPlaces places);
  void (*writeReal)(const T* re, T scale, int64_t count, T* y, int64_t step);
  /// row *= factors
  void (*multiply)(PlaneView<const T> factors, int64_t count, PlaneView<T> row);
  /// A spectrum of `half` points of the numbers x[2j] + i x[2j + 1] becomes that of the real row x: numbers [from, to)
  /// of half + 1. `roots` are halfRoots.
  void (*unpack)(PlaneView<const T> z, PlaneView<const T> roots, int64_t half, int64_t from, int64_t to,
                 PlaneView<T> y);
  /// The reverse, not divided by 2: numbers [from, to) of `half`.
  void (*pack)(PlaneView<const T> x, PlaneView<const T> roots, int64_t half, int64_t from, int64_t to, PlaneView<T> z);
};

template <class T>
FourierRowLoops<T> rowLoops();
template <>
FourierRowLoops<float> rowLoops();
template <>
FourierRowLoops<double> rowLoops();

}  // namespace opkit::ops::dft
