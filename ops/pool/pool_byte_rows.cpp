#include "ops/pool/pool_byte_rows.h"

#include <algorithm>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/pool/pool_byte_rows.cpp"
#include "engine/backend/cpu/foreach_target.h"

#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace opkit::ops::pool {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET != HWY_SCALAR
/// Calls body(tag) with the widest vector of at least 4 bytes that has no more than `count`; false if there is none.
template <class T, class Body>
HWY_INLINE bool withVectorsFor(int64_t count, const Body& body) {
  const hn::ScalableTag<T> widest;
  if (count >= static_cast<int64_t>(hn::Lanes(widest)))
    body(widest);
  else if (count >= 16)
    body(hn::CappedTag<T, 16>());
  else if (count >= 8)
    body(hn::CappedTag<T, 8>());
  else if (count >= 4)
    body(hn::CappedTag<T, 4>());
  return count >= 4;
}

/// Calls body(i) for vectors of `lanes` that cover `count`; the last one may overlap the one before.
template <class Body>
HWY_INLINE void forVectors(int64_t count, int64_t lanes, const Body& body) {
  for (int64_t next = 0; next < count; next += lanes) body(std::min(next, count - lanes));
}

/// Windows that begin at x[0], x[stride], ..., as many as `d` has lanes. REQUIRES a stride of 1 or 2.
template <class D, class T>
HWY_INLINE hn::Vec<D> joinColumns(D d, const T* HWY_RESTRICT x, const RowWindows& w) {
  if (w.stride == 1) {
    auto largest = hn::LoadU(d, x);
    for (int64_t k = 1; k < w.taps; ++k) largest = hn::Max(largest, hn::LoadU(d, x + k * w.dilation));
    return largest;
  }
  hn::Vec<D> even, odd;
  hn::LoadInterleaved2(d, x, even, odd);
  auto largest = w.taps > 1 && w.dilation == 1 ? hn::Max(even, odd) : even;
  for (int64_t k = w.dilation == 1 ? 2 : 1; k < w.taps; k += w.dilation == 1 ? 2 : 1) {
    hn::LoadInterleaved2(d, x + k * w.dilation, even, odd);
    largest = hn::Max(largest, w.dilation == 1 && k + 1 < w.taps ? hn::Max(even, odd) : even);
  }
  return largest;
}
#endif

template <class T>
HWY_INLINE void joinRows(const T* HWY_RESTRICT x, int64_t distance, int64_t taps, T* HWY_RESTRICT y, int64_t count) {
#if HWY_TARGET != HWY_SCALAR
  if (withVectorsFor<T>(count, [&](auto d) HWY_ATTR {
        forVectors(count, static_cast<int64_t>(hn::Lanes(d)), [&](int64_t i) HWY_ATTR {
          auto largest = hn::LoadU(d, x + i);
          for (int64_t k = 1; k < taps; ++k) largest = hn::Max(largest, hn::LoadU(d, x + k * distance + i));
          hn::StoreU(largest, d, y + i);
        });
      }))
    return;
#endif
  for (int64_t i = 0; i < count; ++i) {
    T largest = x[i];
    for (int64_t k = 1; k < taps; ++k) largest = std::max(largest, x[k * distance + i]);
    y[i] = largest;
  }
}

template <class T>
HWY_INLINE void joinWindows(const T* HWY_RESTRICT x, const RowWindows& w, T* HWY_RESTRICT y) {
#if HWY_TARGET != HWY_SCALAR
  if (w.stride <= 2 && withVectorsFor<T>(w.count, [&](auto d) HWY_ATTR {
        forVectors(w.count, static_cast<int64_t>(hn::Lanes(d)),
                   [&](int64_t i) HWY_ATTR { hn::StoreU(joinColumns(d, x + i * w.stride, w), d, y + i); });
      }))
    return;
#endif
  for (int64_t i = 0; i < w.count; ++i) {
    T largest = x[i * w.stride];
    for (int64_t k = 1; k < w.taps; ++k) largest = std::max(largest, x[i * w.stride + k * w.dilation]);
    y[i] = largest;
  }
}

template <class T>
HWY_INLINE void poolPlane(const T* HWY_RESTRICT x, const BytePlane& plane, T* HWY_RESTRICT row, T* HWY_RESTRICT y) {
  constexpr T kLeast = std::numeric_limits<T>::lowest();
  const RowWindows& w = plane.windows;
  const bool isWhole = w.taps == 1 && w.stride == 1 && plane.padding == 0 && plane.valid == w.count;
  for (int64_t o = 0; o < plane.rowCount; ++o, y += w.count) {
    const JoinedRows& rows = plane.rows[o];
    T* joined = isWhole ? y : row + plane.padding;
    if (rows.taps == 0)
      std::fill_n(joined, plane.valid, kLeast);
    else
      joinRows(x + rows.first * plane.width, plane.distance, rows.taps, joined, plane.valid);
    if (!isWhole) joinWindows(row, w, y);
  }
}

void largestSigned(const int8_t* x, const BytePlane& plane, int8_t* row, int8_t* y) { poolPlane(x, plane, row, y); }
void largestUnsigned(const uint8_t* x, const BytePlane& plane, uint8_t* row, uint8_t* y) {
  poolPlane(x, plane, row, y);
}

}  // namespace HWY_NAMESPACE
}  // namespace opkit::ops::pool
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace opkit::ops::pool {

HWY_EXPORT(largestSigned);
HWY_EXPORT(largestUnsigned);

void largestOfPlane(const int8_t* x, const BytePlane& plane, int8_t* row, int8_t* y) {
  HWY_DYNAMIC_DISPATCH(largestSigned)(x, plane, row, y);
}
void largestOfPlane(const uint8_t* x, const BytePlane& plane, uint8_t* row, uint8_t* y) {
  HWY_DYNAMIC_DISPATCH(largestUnsigned)(x, plane, row, y);
}

}  // namespace opkit::ops::pool
#endif
