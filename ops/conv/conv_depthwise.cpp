// Depthwise convolution of one channel: output columns run along the lanes. Four vectors of outputs are
// summed side by side, so a broadcast weight serves four loads and the additions do not wait for each other.
// 3x3 and 5x5 kernels have the number of taps compiled in.
#include "ops/conv/conv_depthwise.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/conv/conv_depthwise.cpp"
#include "engine/backend/cpu/foreach_target.h"

HWY_BEFORE_NAMESPACE();
namespace opkit::ops::conv {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::ScalableTag<float>;
using V = hn::Vec<D>;
constexpr int64_t kLanes = static_cast<int64_t>(hn::MaxLanes(D()));

/// kVecs vectors of outputs that begin at `from` in the image; `count` of their elements are stored.
template <int kTaps, int kVecs>
HWY_INLINE void computeRun(const DepthwisePlane& plane, const float* from, float* to, int64_t count) {
  const D d;
  V sum[kVecs];
  HWY_UNROLL(4) for (int v = 0; v < kVecs; ++v) sum[v] = hn::Zero(d);
  const int64_t taps = kTaps > 0 ? kTaps : plane.taps;
  for (int64_t t = 0; t < taps; ++t) {
    const V weight = hn::Set(d, plane.weights[t]);
    const float* source = from + plane.tapOffsets[t];
    HWY_UNROLL(4)
    for (int v = 0; v < kVecs; ++v) sum[v] = hn::MulAdd(weight, hn::LoadU(d, source + v * kLanes), sum[v]);
  }
  const V bias = hn::Set(d, plane.bias);
  const V low = hn::Set(d, plane.low);
  const V high = hn::Set(d, plane.high);
  HWY_UNROLL(4) for (int v = 0; v < kVecs; ++v) {
    sum[v] = hn::Add(sum[v], bias);
    // Not Min and Max: comparisons leave a NaN alone on every instruction set.
    sum[v] = hn::IfThenElse(hn::Lt(sum[v], low), low, sum[v]);
    sum[v] = hn::IfThenElse(hn::Gt(sum[v], high), high, sum[v]);
  }
  if (count == kVecs * kLanes) {
    HWY_UNROLL(4) for (int v = 0; v < kVecs; ++v) hn::StoreU(sum[v], d, to + v * kLanes);
    return;
  }
  HWY_ALIGN float lanes[kVecs * kLanes];
  HWY_UNROLL(4) for (int v = 0; v < kVecs; ++v) hn::Store(sum[v], d, lanes + v * kLanes);
  for (int64_t i = 0; i < kVecs * kLanes; ++i)
    if (i < count) to[i] = lanes[i];
}

template <int kTaps>
void computePlane(const DepthwisePlane& plane) {
  for (int64_t y = 0; y < plane.rows; ++y) {
    const float* from = plane.image + y * plane.rowStride;
    float* to = plane.output + y * plane.columns;
    int64_t x = 0;
    for (; x + 4 * kLanes <= plane.columns; x += 4 * kLanes) computeRun<kTaps, 4>(plane, from + x, to + x, 4 * kLanes);
    for (; x + kLanes <= plane.columns; x += kLanes) computeRun<kTaps, 1>(plane, from + x, to + x, kLanes);
    if (x < plane.columns) computeRun<kTaps, 1>(plane, from + x, to + x, plane.columns - x);
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
