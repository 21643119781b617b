#include "ops/layer_norm/norm_vectors.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/layer_norm/norm_vectors.cpp"
#include "engine/backend/cpu/foreach_target.h"

HWY_BEFORE_NAMESPACE();
namespace opkit::ops::layer_norm {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Wide = hn::ScalableTag<double>;
using Narrow = hn::Rebind<float, Wide>;
using WideVec = hn::Vec<Wide>;
constexpr int64_t kWide = static_cast<int64_t>(hn::MaxLanes(Wide()));
constexpr int64_t kTogether = 16;                // rows: enough that additions do not wait for each other
constexpr int64_t kVectors = kTogether / kWide;  // of them

HWY_INLINE WideVec widened(const float* from) { return hn::PromoteTo(Wide(), hn::LoadU(Narrow(), from)); }
HWY_INLINE WideVec widenedOr(const float* from, int64_t at, double otherwise) {
  return from ? widened(from + at) : hn::Set(Wide(), otherwise);
}

/// kTogether rows.
HWY_INLINE void normaliseSome(const NormColumns& c, float* x, int64_t first, double* mean, double* factor) {
  const Wide d;
  const WideVec count = hn::Set(d, static_cast<double>(c.length)), one = hn::Set(d, 1.0);
  WideVec centre[kVectors], sums[kVectors];
  HWY_UNROLL(16) for (int v = 0; v < kVectors; ++v) centre[v] = sums[v] = hn::Zero(d);
  if (c.centred) {
    for (int64_t i = 0; i < c.length; ++i) HWY_UNROLL(16)
    for (int v = 0; v < kVectors; ++v) centre[v] = hn::Add(centre[v], widened(x + i * c.step + v * kWide));
    HWY_UNROLL(16) for (int v = 0; v < kVectors; ++v) centre[v] = hn::Div(centre[v], count);
  }
  for (int64_t i = 0; i < c.length; ++i) {
    HWY_UNROLL(16) for (int v = 0; v < kVectors; ++v) {
      const WideVec away = hn::Sub(widened(x + i * c.step + v * kWide), centre[v]);
      sums[v] = hn::MulAdd(away, away, sums[v]);
    }
  }
  WideVec by[kVectors], shift[kVectors];
  HWY_UNROLL(16) for (int v = 0; v < kVectors; ++v) {
    by[v] = hn::Div(one, hn::Sqrt(hn::Add(hn::Div(sums[v], count), hn::Set(d, c.epsilon))));
    hn::StoreU(centre[v], d, mean + v * kWide);
    hn::StoreU(by[v], d, factor + v * kWide);
    by[v] = hn::Mul(by[v], widenedOr(c.rowScale, first + v * kWide, 1));
    shift[v] = widenedOr(c.rowBias, first + v * kWide, 0);
  }
  for (int64_t i = 0; i < c.length; ++i) {
    const WideVec scale = hn::Set(d, c.scale ? static_cast<double>(c.scale[i]) : 1.0);
    const WideVec bias = hn::Set(d, c.bias ? static_cast<double>(c.bias[i]) : 0.0);
    HWY_UNROLL(16) for (int v = 0; v < kVectors; ++v) {
      float* at = x + i * c.step + v * kWide;
      const WideVec y = hn::Mul(hn::Sub(widened(at), centre[v]), by[v]);
      hn::StoreU(hn::DemoteTo(Narrow(), hn::MulAdd(y, scale, hn::Add(bias, shift[v]))), Narrow(), at);
    }
  }
}

void normalise(const NormColumns& columns, float* x, double* mean, double* factor) {
  for (int64_t first = 0; first < columns.step; first += kTogether)
    normaliseSome(columns, x + first, first, mean + first, factor + first);
}

}  // namespace HWY_NAMESPACE
}  // namespace opkit::ops::layer_norm
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace opkit::ops::layer_norm {

HWY_EXPORT(normalise);
void normaliseColumns(const NormColumns& columns, float* x, double* mean, double* factor) {
  HWY_DYNAMIC_DISPATCH(normalise)(columns, x, mean, factor);
}

}  // namespace opkit::ops::layer_norm
#endif
