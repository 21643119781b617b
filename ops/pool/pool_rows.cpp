#include "ops/pool/pool_rows.h"

#include <algorithm>
#include <cmath>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/pool/pool_rows.cpp"
#include "engine/backend/cpu/foreach_target.h"

#include "engine/backend/cpu/vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace opkit::ops::pool {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
namespace vectors = opkit::cpu::HWY_NAMESPACE;

using V = vectors::FloatVec;
constexpr int64_t kLanes = vectors::kLanes;

/// NaN wins, as in the oracle.
struct Max {
  static constexpr float kStart = -INFINITY;
  HWY_INLINE V operator()(V y, V x) const { return vectors::choose(hn::Or(hn::Gt(x, y), hn::IsNaN(x)), x, y); }
};
struct Sum {
  static constexpr float kStart = 0;
  HWY_INLINE V operator()(V y, V x) const { return hn::Add(y, x); }
};

template <class Join>
HWY_INLINE void joinRows(const float* x, int64_t distance, int64_t taps, float* y, int64_t count) {
  const Join join;
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    V sum = vectors::set(Join::kStart);
    for (int64_t k = 0; k < taps; ++k) sum = join(sum, vectors::load(x + k * distance + i));
    vectors::store(sum, y + i);
  }
  if (i == count) return;
  V sum = vectors::set(Join::kStart);
  for (int64_t k = 0; k < taps; ++k) sum = join(sum, vectors::loadPart(x + k * distance + i, count - i));
  vectors::storePart(sum, y + i, count - i);
}

/// x[0], x[stride], ...: `count` of them, at most a vector.
HWY_INLINE V loadStrided(const float* x, int64_t stride, int64_t count) {
  if (stride == 1) return vectors::load(x);
#if OPKIT_HAS_EVEN_LANES
  if (stride == 2) return vectors::evenLanes(vectors::load(x), vectors::load(x + kLanes));
#endif
  HWY_ALIGN float lanes[kLanes] = {};
  for (int64_t i = 0; i < count; ++i) lanes[i] = x[i * stride];
  return hn::Load(vectors::FloatTag(), lanes);
}

template <class Join>
HWY_INLINE void joinWindows(const float* x, const RowWindows& w, float* y) {
  static_assert(2 * kLanes <= kRowSlack);
  const Join join;
  for (int64_t i = 0; i < w.count; i += kLanes) {
    const int64_t count = std::min(w.count - i, kLanes);
    const float* from = x + i * w.stride;
    V sum = loadStrided(from, w.stride, count);
    for (int64_t k = 1; k < w.taps; ++k) sum = join(sum, loadStrided(from + k * w.dilation, w.stride, count));
    vectors::storePart(sum, y + i, count);
  }
}

void joinMaxRows(const float* x, int64_t distance, int64_t taps, float* y, int64_t count) {
  joinRows<Max>(x, distance, taps, y, count);
}
void joinSumRows(const float* x, int64_t distance, int64_t taps, float* y, int64_t count) {
  joinRows<Sum>(x, distance, taps, y, count);
}
void joinMaxWindows(const float* x, const RowWindows& w, float* y) { joinWindows<Max>(x, w, y); }
void joinSumWindows(const float* x, const RowWindows& w, float* y) { joinWindows<Sum>(x, w, y); }

}  // namespace HWY_NAMESPACE
}  // namespace opkit::ops::pool
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace opkit::ops::pool {

HWY_EXPORT(joinMaxRows);
HWY_EXPORT(joinSumRows);
HWY_EXPORT(joinMaxWindows);
HWY_EXPORT(joinSumWindows);

void maxRows(const float* x, int64_t distance, int64_t taps, float* y, int64_t count) {
  HWY_DYNAMIC_DISPATCH(joinMaxRows)(x, distance, taps, y, count);
}
void sumRows(const float* x, int64_t distance, int64_t taps, float* y, int64_t count) {
  HWY_DYNAMIC_DISPATCH(joinSumRows)(x, distance, taps, y, count);
}
void maxWindows(const float* x, const RowWindows& windows, float* y) {
  HWY_DYNAMIC_DISPATCH(joinMaxWindows)(x, windows, y);
}
void sumWindows(const float* x, const RowWindows& windows, float* y) {
  HWY_DYNAMIC_DISPATCH(joinSumWindows)(x, windows, y);
}

}  // namespace opkit::ops::pool
#endif
