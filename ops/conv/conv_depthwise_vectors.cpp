// Depthwise convolution of one channel: output columns run along the lanes. Up to eight vectors of outputs are summed
// together, from several rows if rows are short, so a broadcast weight serves many loads and the additions are
// independent. 3x3 and 5x5 kernels have the number of taps compiled in.
#include "ops/conv/conv_depthwise_vectors.h"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/conv/conv_depthwise_vectors.cpp"
#include "engine/backend/cpu/foreach_target.h"

#include "engine/backend/cpu/vector_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace opkit::ops::conv {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
namespace vectors = opkit::cpu::HWY_NAMESPACE;

using V = vectors::FloatVec;
constexpr int64_t kLanes = vectors::kLanes;

/// kRows rows of kVecs vectors of outputs; the first row begins at `from` in the image. The last vector of a row stores
/// `lastCount` elements.
template <int kTaps, int kRows, int kVecs>
HWY_INLINE void computeTile(const DepthwisePlane& plane, const float* from, float* to, int64_t lastCount) {
  V sum[kRows][kVecs];
  HWY_UNROLL(8)
  for (int r = 0; r < kRows; ++r) HWY_UNROLL(4) for (int v = 0; v < kVecs; ++v) sum[r][v] = vectors::set(0.0f);
  const int64_t taps = kTaps > 0 ? kTaps : plane.taps;
  for (int64_t t = 0; t < taps; ++t) {
    const V weight = vectors::set(plane.weights[t]);
    const float* source = from + plane.tapOffsets[t];
    HWY_UNROLL(8)
    for (int r = 0; r < kRows; ++r) HWY_UNROLL(4)
    for (int v = 0; v < kVecs; ++v)
      sum[r][v] = hn::MulAdd(weight, vectors::load(source + r * plane.rowStride + v * kLanes), sum[r][v]);
  }
  const V bias = vectors::set(plane.bias);
  const V low = vectors::set(plane.low);
  const V high = vectors::set(plane.high);
  HWY_UNROLL(8) for (int r = 0; r < kRows; ++r) HWY_UNROLL(4) for (int v = 0; v < kVecs; ++v) {
    const V y = vectors::limitTo(hn::Add(sum[r][v], bias), low, high);
    float* target = to + r * plane.columns + v * kLanes;
    if (v + 1 < kVecs || lastCount == kLanes)
      vectors::store(y, target);
    else
      vectors::storePart(y, target, lastCount);
  }
}

/// Rows [y, plane.rows) of kVecs vectors of columns from column x on: kRows at a time, the rest by halves.
template <int kTaps, int kRows, int kVecs>
HWY_INLINE void computeRows(const DepthwisePlane& plane, int64_t x, int64_t y, int64_t lastCount) {
  for (; y + kRows <= plane.rows; y += kRows)
    computeTile<kTaps, kRows, kVecs>(plane, plane.image + y * plane.rowStride + x, plane.output + y * plane.columns + x,
                                     lastCount);
  if constexpr (kRows > 1) computeRows<kTaps, kRows / 2, kVecs>(plane, x, y, lastCount);
}

template <int kTaps, int kVecs>
HWY_INLINE void computeColumns(const DepthwisePlane& plane, int64_t x) {
  const int64_t lastCount = std::min(plane.columns - x - (kVecs - 1) * kLanes, kLanes);
  computeRows<kTaps, 8 / kVecs, kVecs>(plane, x, 0, lastCount);
}

template <int kTaps>
void computePlane(const DepthwisePlane& plane) {
  for (int64_t x = 0; x < plane.columns;) {
    const int64_t vecs = std::min<int64_t>((plane.columns - x + kLanes - 1) / kLanes, 4);
    if (vecs == 4) computeColumns<kTaps, 4>(plane, x);
    if (vecs == 3) computeColumns<kTaps, 3>(plane, x);
    if (vecs == 2) computeColumns<kTaps, 2>(plane, x);
    if (vecs == 1) computeColumns<kTaps, 1>(plane, x);
    x += vecs * kLanes;
  }
}

void compute(const DepthwisePlane& plane) {
  if (plane.taps == 9) return computePlane<9>(plane);
  if (plane.taps == 25) return computePlane<25>(plane);
  computePlane<0>(plane);
}

}  // namespace HWY_NAMESPACE
}  // namespace opkit::ops::conv
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace opkit::ops::conv {
HWY_EXPORT(compute);
void computeDepthwise(const DepthwisePlane& plane) { HWY_DYNAMIC_DISPATCH(compute)(plane); }
}  // namespace opkit::ops::conv
#endif
