#include "ops/pool/pool_taps_wide.h"

#include <algorithm>
#include <cmath>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/pool/pool_taps_wide.cpp"
#include "engine/backend/cpu/foreach_target.h"

#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace opkit::ops::pool::taps {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Strides of 1 and 2 as constants.
#define WITH_STRIDE(function, stride, ...)              \
  if (stride == 1) return function(__VA_ARGS__, One()); \
  if (stride == 2) return function(__VA_ARGS__, Two()); \
  function(__VA_ARGS__, stride)

struct One {
  constexpr operator int64_t() const { return 1; }  // NOLINT(google-explicit-constructor)
};
struct Two {
  constexpr operator int64_t() const { return 2; }  // NOLINT(google-explicit-constructor)
};

template <class T, class Stride>
void indexedRun(const T* __restrict x, int32_t offset, T* __restrict best, int32_t* __restrict at, int64_t count,
                Stride stride) {
  const auto step = static_cast<int32_t>(static_cast<int64_t>(stride));
  for (int64_t o = 0; o < count; ++o) {
    const T value = x[o * stride], old = best[o];
    const bool replaces = (at[o] < 0) | (value > old) | ((value != value) & (old == old));
    best[o] = replaces ? value : old;
    at[o] = replaces ? offset + static_cast<int32_t>(o) * step : at[o];
  }
}
template <class T>
void indexedPlane(const T* __restrict x, const int32_t* __restrict places, int64_t taps, T* __restrict best,
                  int32_t* __restrict at, int64_t count) {
  for (int64_t k = 0; k < taps; ++k, places += count)
    for (int64_t o = 0; o < count; ++o) {
      const int32_t place = places[o];
      const T value = x[place < 0 ? 0 : place], old = best[o];
      const bool replaces = (place >= 0) & ((at[o] < 0) | (value > old) | ((value != value) & (old == old)));
      best[o] = replaces ? value : old;
      at[o] = replaces ? place : at[o];
    }
}
template <class T, class Stride>
void largestRun(const T* __restrict x, T* __restrict best, int64_t count, Stride stride) {
  for (int64_t o = 0; o < count; ++o) {
    const T value = x[o * stride], old = best[o];
    best[o] = (value > old) | (value != value) ? value : old;
  }
}
#if HWY_TARGET != HWY_SCALAR
/// Bytes with a stride of 2, which compilers turn into slow vectors. Vectors may overlap: a tap may be joined twice.
/// The last output is joined alone, since a vector for it would read a byte behind its tap.
template <class T>
requires(sizeof(T) == 1) void largestRun(const T* __restrict x, T* __restrict best, int64_t count, Two) {
  const hn::FixedTag<T, 16> d;
  if (count <= 16) return largestRun(x, best, count, int64_t{2});
  for (int64_t next = 0; next < count - 1; next += 16) {
    const int64_t o = std::min(next, count - 17);
    hn::Vec<decltype(d)> even, odd;
    hn::LoadInterleaved2(d, x + 2 * o, even, odd);
    hn::StoreU(hn::Max(even, hn::LoadU(d, best + o)), d, best + o);
  }
  largestRun(x + 2 * (count - 1), best + count - 1, 1, One());
}
#endif
struct Itself {
  double operator()(double value) const { return value; }
};
struct Magnitude {
  double operator()(double value) const { return std::fabs(value); }
};
struct Square {
  double operator()(double value) const { return value * value; }
};

template <class Term, class T, class Stride>
void sumRun(const T* __restrict x, double* __restrict sums, int64_t count, Term term, Stride stride) {
  for (int64_t o = 0; o < count; ++o) sums[o] += term(static_cast<double>(x[o * stride]));
}

template <class T>
void joinIndexed(const T* x, int32_t offset, int64_t stride, T* best, int32_t* at, int64_t count) {
  WITH_STRIDE(indexedRun, stride, x, offset, best, at, count);
}
template <class T>
void joinLargest(const T* x, int64_t stride, T* best, int64_t count) {
  WITH_STRIDE(largestRun, stride, x, best, count);
}
template <class Term, class T>
void joinSum(const T* x, int64_t stride, double* sums, int64_t count) {
  WITH_STRIDE(sumRun, stride, x, sums, count, Term());
}
#undef WITH_STRIDE

// One name per dtype: HWY_EXPORT takes no templates.
#define FOR_TYPE(Name, T)                                                                                  \
  void indexed##Name(const T* x, int32_t offset, int64_t stride, T* best, int32_t* at, int64_t count) {    \
    joinIndexed(x, offset, stride, best, at, count);                                                       \
  }                                                                                                        \
  void plane##Name(const T* x, const int32_t* places, int64_t taps, T* best, int32_t* at, int64_t count) { \
    indexedPlane(x, places, taps, best, at, count);                                                        \
  }                                                                                                        \
  void largest##Name(const T* x, int64_t stride, T* best, int64_t count) { joinLargest(x, stride, best, count); }
FOR_TYPE(Float, float)
FOR_TYPE(Double, double)
FOR_TYPE(Int8, int8_t)
FOR_TYPE(UInt8, uint8_t)
#undef FOR_TYPE
#define SUM_OF(Name, Term, T) \
  void Name(const T* x, int64_t stride, double* sums, int64_t count) { joinSum<Term>(x, stride, sums, count); }
SUM_OF(sumDouble, Itself, double)
SUM_OF(magnitudeFloat, Magnitude, float)
SUM_OF(magnitudeDouble, Magnitude, double)
SUM_OF(squareFloat, Square, float)
SUM_OF(squareDouble, Square, double)
#undef SUM_OF

}  // namespace HWY_NAMESPACE
}  // namespace opkit::ops::pool::taps
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace opkit::ops::pool {
namespace taps {

#define FORWARD(Name, T)                                                                               \
  HWY_EXPORT(indexed##Name);                                                                           \
  void indexedOf(const T* x, int32_t offset, int64_t stride, T* best, int32_t* at, int64_t count) {    \
    HWY_DYNAMIC_DISPATCH(indexed##Name)(x, offset, stride, best, at, count);                           \
  }                                                                                                    \
  HWY_EXPORT(plane##Name);                                                                             \
  void planeOf(const T* x, const int32_t* places, int64_t taps, T* best, int32_t* at, int64_t count) { \
    HWY_DYNAMIC_DISPATCH(plane##Name)(x, places, taps, best, at, count);                               \
  }                                                                                                    \
  HWY_EXPORT(largest##Name);                                                                           \
  void largestOf(const T* x, int64_t stride, T* best, int64_t count) {                                 \
    HWY_DYNAMIC_DISPATCH(largest##Name)(x, stride, best, count);                                       \
  }
FORWARD(Float, float)
FORWARD(Double, double)
FORWARD(Int8, int8_t)
FORWARD(UInt8, uint8_t)
#undef FORWARD
#define FORWARD(function, Name, T)                                         \
  HWY_EXPORT(Name);                                                        \
  void function(const T* x, int64_t stride, double* sums, int64_t count) { \
    HWY_DYNAMIC_DISPATCH(Name)(x, stride, sums, count);                    \
  }
FORWARD(sumOf, sumDouble, double)
FORWARD(magnitudeOf, magnitudeFloat, float)
FORWARD(magnitudeOf, magnitudeDouble, double)
FORWARD(squareOf, squareFloat, float)
FORWARD(squareOf, squareDouble, double)
#undef FORWARD

}  // namespace taps

#define FORWARD(T)                                                                                         \
  void indexedTap(const T* x, int32_t offset, int64_t stride, T* best, int32_t* at, int64_t count) {       \
    taps::indexedOf(x, offset, stride, best, at, count);                                                   \
  }                                                                                                        \
  void indexedTaps(const T* x, const int32_t* places, int64_t taps, T* best, int32_t* at, int64_t count) { \
    taps::planeOf(x, places, taps, best, at, count);                                                       \
  }                                                                                                        \
  void largestTap(const T* x, int64_t stride, T* best, int64_t count) { taps::largestOf(x, stride, best, count); }
FORWARD(float)
FORWARD(double)
FORWARD(int8_t)
FORWARD(uint8_t)
#undef FORWARD
#define FORWARD(function, inner)                                                                                \
  void function(const float* x, int64_t stride, double* sums, int64_t count) { inner(x, stride, sums, count); } \
  void function(const double* x, int64_t stride, double* sums, int64_t count) { inner(x, stride, sums, count); }
FORWARD(sumMagnitudeTap, taps::magnitudeOf)
FORWARD(sumSquareTap, taps::squareOf)
#undef FORWARD
void sumTap(const double* x, int64_t stride, double* sums, int64_t count) { taps::sumOf(x, stride, sums, count); }

}  // namespace opkit::ops::pool
#endif
