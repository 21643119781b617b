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

/// The rows of a window, joined in a register: load(row) is the vector that counts.
template <class Join, class Load>
HWY_INLINE V joinTaps(const float* x, const RowSteps& steps, const RowTaps& taps, const Load& load) {
  const Join join;
  const auto slice = [&](const float* row) HWY_ATTR {
    V sum = vectors::set(Join::kStart);
    for (int64_t k = 0; k < taps.high; ++k) sum = join(sum, load(row + k * steps.high));
    return sum;
  };
  V sum = slice(x);
  for (int64_t j = 1; j < taps.deep; ++j) sum = join(sum, slice(x + j * steps.deep));
  return sum;
}

template <class Join>
HWY_INLINE void joinRows(const float* x, const RowSteps& steps, const RowTaps& taps, float* y, int64_t count) {
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes)
    vectors::store(joinTaps<Join>(x + i, steps, taps, [](const float* row) HWY_ATTR { return vectors::load(row); }),
                   y + i);
  if (i == count) return;
  const auto part = [count = count - i](const float* row) HWY_ATTR { return vectors::loadPart(row, count); };
  vectors::storePart(joinTaps<Join>(x + i, steps, taps, part), y + i, count - i);
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

void joinMaxRows(const float* x, const RowSteps& steps, const RowTaps& taps, float* y, int64_t count) {
  joinRows<Max>(x, steps, taps, y, count);
}
void joinSumRows(const float* x, const RowSteps& steps, const RowTaps& taps, float* y, int64_t count) {
  joinRows<Sum>(x, steps, taps, y, count);
}
void joinMaxWindows(const float* x, const RowWindows& w, float* y) { joinWindows<Max>(x, w, y); }
void joinSumWindows(const float* x, const RowWindows& w, float* y) { joinWindows<Sum>(x, w, y); }

#if HWY_TARGET == HWY_SCALAR  // vectors have one element
int64_t mostNarrowWidth() { return 0; }
void joinMaxPlanes(const PlaneWindows&, int64_t, const float*, float*) {}
void joinMeanPlanes(const PlaneWindows&, int64_t, const float*, float*) {}
#else
int64_t mostNarrowWidth() { return 2 * kLanes - 1; }  // the last lane of two vectors holds the padding

/// Up to kVecs vectors of outputs of a row.
template <class Join, int kVecs>
class NarrowRow {
 public:
  explicit NarrowRow(const PlaneWindows& narrow)
      : narrow_(narrow), outputs_(static_cast<int64_t>(narrow.columns.size()) / narrow.columnTaps) {}

  int64_t outputs() const { return outputs_; }

  HWY_INLINE void pool(const float* x, const float* divisors, const RowTaps& taps, float* y) const {
    const Join join;
    V row[kVecs];
    for (int v = 0; v < kVecs; ++v)
      row[v] = joinTaps<Join>(x + v * kLanes, narrow_.steps, taps,
                              [count = partOf(narrow_.width, v)](const float* from)
                                  HWY_ATTR { return vectors::loadPart(from, count, Join::kStart); });
    for (int64_t first = 0; first < outputs_; first += kLanes) {
      const int64_t count = std::min(outputs_ - first, kLanes);
      const int32_t* columns = narrow_.columns.data() + first;
      V result = columnsOf(row, columns, count);
      for (int64_t k = 1; k < narrow_.columnTaps; ++k)
        result = join(result, columnsOf(row, columns + k * outputs_, count));
      if (divisors) result = hn::Div(result, vectors::loadPart(divisors + first, count, 1.0f));
      vectors::storePart(result, y + first, count);
    }
  }

 private:
  static int64_t partOf(int64_t width, int v) { return std::clamp<int64_t>(width - v * kLanes, 0, kLanes); }

  /// Lane i is column columns[i] of the row.
  static HWY_INLINE V columnsOf(const V (&row)[kVecs], const int32_t* columns, int64_t count) {
    const hn::RebindToSigned<vectors::FloatTag> d;
    const auto all = hn::BitCast(d, vectors::loadPart(reinterpret_cast<const float*>(columns), count));
    const auto lanes = hn::IndicesFromVec(vectors::FloatTag(), hn::And(all, hn::Set(d, kLanes - 1)));
    const V low = hn::TableLookupLanes(row[0], lanes);
    if constexpr (kVecs == 1) return low;
    const auto isHigh = hn::RebindMask(vectors::FloatTag(), hn::Gt(all, hn::Set(d, kLanes - 1)));
    return vectors::choose(isHigh, hn::TableLookupLanes(row[kVecs - 1], lanes), low);
  }

  const PlaneWindows& narrow_;
  const int64_t outputs_;
};

template <class Join, int kVecs>
void joinNarrow(const PlaneWindows& narrow, int64_t planes, const float* x, float* y) {
  const NarrowRow<Join, kVecs> row(narrow);
  for (int64_t i = 0; i < planes; ++i, x += narrow.height * narrow.width) {
    const float* divisors = narrow.divisors.empty() ? nullptr : narrow.divisors.data();
    for (const RowTaps& taps : narrow.rows) {
      row.pool(x + taps.first * narrow.width, divisors, taps, y);
      y += row.outputs();
      if (divisors) divisors += row.outputs();
    }
  }
}

void joinMaxPlanes(const PlaneWindows& narrow, int64_t planes, const float* x, float* y) {
  narrow.width < kLanes ? joinNarrow<Max, 1>(narrow, planes, x, y) : joinNarrow<Max, 2>(narrow, planes, x, y);
}
void joinMeanPlanes(const PlaneWindows& narrow, int64_t planes, const float* x, float* y) {
  narrow.width < kLanes ? joinNarrow<Sum, 1>(narrow, planes, x, y) : joinNarrow<Sum, 2>(narrow, planes, x, y);
}
#endif

}  // namespace HWY_NAMESPACE
}  // namespace opkit::ops::pool
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace opkit::ops::pool {

HWY_EXPORT(joinMaxRows);
HWY_EXPORT(joinSumRows);
HWY_EXPORT(joinMaxWindows);
HWY_EXPORT(joinSumWindows);
HWY_EXPORT(mostNarrowWidth);
HWY_EXPORT(joinMaxPlanes);
HWY_EXPORT(joinMeanPlanes);

void maxRows(const float* x, const RowSteps& steps, const RowTaps& taps, float* y, int64_t count) {
  HWY_DYNAMIC_DISPATCH(joinMaxRows)(x, steps, taps, y, count);
}
void sumRows(const float* x, const RowSteps& steps, const RowTaps& taps, float* y, int64_t count) {
  HWY_DYNAMIC_DISPATCH(joinSumRows)(x, steps, taps, y, count);
}
void maxWindows(const float* x, const RowWindows& windows, float* y) {
  HWY_DYNAMIC_DISPATCH(joinMaxWindows)(x, windows, y);
}
void sumWindows(const float* x, const RowWindows& windows, float* y) {
  HWY_DYNAMIC_DISPATCH(joinSumWindows)(x, windows, y);
}
int64_t mostNarrow() { return HWY_DYNAMIC_DISPATCH(mostNarrowWidth)(); }
void maxPlanes(const PlaneWindows& narrow, int64_t planes, const float* x, float* y) {
  HWY_DYNAMIC_DISPATCH(joinMaxPlanes)(narrow, planes, x, y);
}
void meanPlanes(const PlaneWindows& narrow, int64_t planes, const float* x, float* y) {
  HWY_DYNAMIC_DISPATCH(joinMeanPlanes)(narrow, planes, x, y);
}

}  // namespace opkit::ops::pool
#endif
