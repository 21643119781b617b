#include "ops/resize/resample_rows_wide.h"

#include <cmath>
#include <limits>
#include <type_traits>

#include "ops/resize/resize.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/resize/resample_rows_wide.cpp"
#include "engine/backend/cpu/foreach_target.h"

HWY_BEFORE_NAMESPACE();
namespace opkit::ops::resize::rows {
namespace HWY_NAMESPACE {

template <class T, class A>
void blend(const T* __restrict x, const int64_t* starts, const A* weights, int64_t taps, A* __restrict sums,
           int64_t count) {
  const T* __restrict first = x + starts[0];
  const A w0 = weights[0];
  if (taps == 1) {
    for (int64_t i = 0; i < count; ++i) sums[i] = w0 * static_cast<A>(first[i]);
    return;
  }
  const T* __restrict second = x + starts[1];
  const A w1 = weights[1];
  for (int64_t i = 0; i < count; ++i) sums[i] = w0 * static_cast<A>(first[i]) + w1 * static_cast<A>(second[i]);
  for (int64_t t = 2; t < taps; ++t) {
    const T* __restrict next = x + starts[t];
    const A w = weights[t];
    for (int64_t i = 0; i < count; ++i) sums[i] += w * static_cast<A>(next[i]);
  }
}

template <class T, class A>
void storeAll(const A* __restrict sums, T* __restrict y, int64_t count) {
  if constexpr (std::is_floating_point_v<T>) {
    for (int64_t i = 0; i < count; ++i) y[i] = static_cast<T>(sums[i]);
  } else {
    constexpr A kLow = static_cast<A>(std::numeric_limits<T>::min());
    constexpr A kHigh = static_cast<A>(std::numeric_limits<T>::max());
    const A slack = static_cast<A>(kWholeSlack);
    for (int64_t i = 0; i < count; ++i) {
      const A moved = sums[i] < 0 ? sums[i] - slack : sums[i] + slack;
      y[i] = static_cast<T>(moved < kLow ? kLow : moved > kHigh ? kHigh : moved);
    }
  }
}

template <class A>
void gather(const A* __restrict row, const RowTaps<A>& taps, A* __restrict sums) {
  const int32_t* __restrict at = taps.at;
  const A* __restrict weights = taps.weights;
  const int64_t count = taps.count;
  if (taps.taps == 1) {
    for (int64_t o = 0; o < count; ++o) sums[o] = weights[o] * row[at[o]];
    return;
  }
  for (int64_t o = 0; o < count; ++o) sums[o] = weights[o] * row[at[o]] + weights[count + o] * row[at[count + o]];
  for (int64_t t = 2; t < taps.taps; ++t)
    for (int64_t o = 0; o < count; ++o) sums[o] += weights[t * count + o] * row[at[t * count + o]];
}

void doubleSum(const float* __restrict row, float near, float far, float* __restrict sums, int64_t count) {
  const int64_t last = count - 1;
  sums[0] = near * row[0] + far * row[0];
  for (int64_t i = 0; i < last; ++i) {
    sums[2 * i + 1] = near * row[i] + far * row[i + 1];
    sums[2 * i + 2] = near * row[i + 1] + far * row[i];
  }
  sums[2 * last + 1] = near * row[last] + far * row[last];
}

template <class T>
void gatherEach(const T* __restrict row, const int32_t* __restrict at, T* __restrict y, int64_t count) {
  for (int64_t o = 0; o < count; ++o) y[o] = row[at[o]];
}
template <class T>
void doubleEach(const T* __restrict row, T* __restrict y, int64_t count) {
  for (int64_t i = 0; i < count; ++i) y[2 * i] = y[2 * i + 1] = row[i];
}

// One name per dtype: HWY_EXPORT takes no templates.
#define OPKIT_TYPE(T, A)                                                                                      \
  void blend_##T(const T* x, const int64_t* starts, const A* weights, int64_t taps, A* sums, int64_t count) { \
    blend(x, starts, weights, taps, sums, count);                                                             \
  }                                                                                                           \
  void store_##T(const A* sums, T* y, int64_t count) { storeAll(sums, y, count); }
OPKIT_RESAMPLE_TYPES(OPKIT_TYPE)
#undef OPKIT_TYPE
#define OPKIT_SUM(A) \
  void gather_##A(const A* row, const RowTaps<A>& taps, A* sums) { gather(row, taps, sums); }
OPKIT_SUM(float)
OPKIT_SUM(double)
#undef OPKIT_SUM
#define OPKIT_WORD(T)                                                                                     \
  void words_##T(const T* row, const int32_t* at, T* y, int64_t count) { gatherEach(row, at, y, count); } \
  void twice_##T(const T* row, T* y, int64_t count) { doubleEach(row, y, count); }
OPKIT_WORD(uint8_t)
OPKIT_WORD(uint16_t)
OPKIT_WORD(uint32_t)
OPKIT_WORD(uint64_t)
#undef OPKIT_WORD

}  // namespace HWY_NAMESPACE
}  // namespace opkit::ops::resize::rows
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace opkit::ops::resize {
namespace rows {

#define OPKIT_TYPE(T, A)                                                                                    \
  HWY_EXPORT(blend_##T);                                                                                    \
  void forward(const T* x, const int64_t* starts, const A* weights, int64_t taps, A* sums, int64_t count) { \
    HWY_DYNAMIC_DISPATCH(blend_##T)(x, starts, weights, taps, sums, count);                                 \
  }                                                                                                         \
  HWY_EXPORT(store_##T);                                                                                    \
  void forward(const A* sums, T* y, int64_t count) { HWY_DYNAMIC_DISPATCH(store_##T)(sums, y, count); }
OPKIT_RESAMPLE_TYPES(OPKIT_TYPE)
#undef OPKIT_TYPE
#define OPKIT_SUM(A)      \
  HWY_EXPORT(gather_##A); \
  void forward(const A* row, const RowTaps<A>& taps, A* sums) { HWY_DYNAMIC_DISPATCH(gather_##A)(row, taps, sums); }
OPKIT_SUM(float)
OPKIT_SUM(double)
#undef OPKIT_SUM
#define OPKIT_WORD(T)                                                  \
  HWY_EXPORT(words_##T);                                               \
  void forward(const T* row, const int32_t* at, T* y, int64_t count) { \
    HWY_DYNAMIC_DISPATCH(words_##T)(row, at, y, count);                \
  }                                                                    \
  HWY_EXPORT(twice_##T);                                               \
  void twice(const T* row, T* y, int64_t count) { HWY_DYNAMIC_DISPATCH(twice_##T)(row, y, count); }
OPKIT_WORD(uint8_t)
OPKIT_WORD(uint16_t)
OPKIT_WORD(uint32_t)
OPKIT_WORD(uint64_t)
#undef OPKIT_WORD

HWY_EXPORT(doubleSum);
void twice(const float* row, float near, float far, float* sums, int64_t count) {
  HWY_DYNAMIC_DISPATCH(doubleSum)(row, near, far, sums, count);
}

}  // namespace rows

void doubleSums(const float* row, float near, float far, float* sums, int64_t count) {
  rows::twice(row, near, far, sums, count);
}

#define OPKIT_TYPE(T, A)                                                                                      \
  void blendRows(const T* x, const int64_t* starts, const A* weights, int64_t taps, A* sums, int64_t count) { \
    rows::forward(x, starts, weights, taps, sums, count);                                                     \
  }                                                                                                           \
  void storeRow(const A* sums, T* y, int64_t count) { rows::forward(sums, y, count); }
OPKIT_RESAMPLE_TYPES(OPKIT_TYPE)
#undef OPKIT_TYPE
void gatherSums(const float* row, const RowTaps<float>& taps, float* sums) { rows::forward(row, taps, sums); }
void gatherSums(const double* row, const RowTaps<double>& taps, double* sums) { rows::forward(row, taps, sums); }
#define OPKIT_WORD(T)                                                                                          \
  void gatherWords(const T* row, const int32_t* at, T* y, int64_t count) { rows::forward(row, at, y, count); } \
  void doubleWords(const T* row, T* y, int64_t count) { rows::twice(row, y, count); }
OPKIT_WORD(uint8_t)
OPKIT_WORD(uint16_t)
OPKIT_WORD(uint32_t)
OPKIT_WORD(uint64_t)
#undef OPKIT_WORD

}  // namespace opkit::ops::resize
#endif
