#include "ops/matmul_nbits/matmul_nbits_wide.h"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/matmul_nbits/matmul_nbits_wide.cpp"
#include "engine/backend/cpu/foreach_target.h"

#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace opkit::ops::matmul_nbits {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Whole = hn::ScalableTag<float>;
using Short = hn::CappedTag<float, 4>;  // of blocks of few bytes

#if HWY_TARGET == HWY_AVX3
constexpr int kMostRows = 8;
#else
constexpr int kMostRows = 4;
#endif

/// Whether blocks fill whole vectors of bytes.
HWY_INLINE bool isWhole(const Weights& weights) {
  return weights.blockBytes % static_cast<int64_t>(hn::Lanes(Whole())) == 0;
}

template <class D>
HWY_INLINE void arrangeBy(D d, const float* a, int64_t depth, const Weights& weights, float* to) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(d)), phases = int64_t{8 / weights.bits}, chunk = lanes * phases;
  const int64_t count = weights.blocks * weights.blockBytes * phases;
  for (int64_t first = 0; first < count; first += chunk)
    for (int64_t i = 0; i < lanes; ++i)
      for (int64_t phase = 0; phase < phases; ++phase) {
        const int64_t k = first + i * phases + phase;
        to[first + phase * lanes + i] = k < depth ? a[k] : 0.0f;
      }
}

template <int kBits>
HWY_INLINE float zeroOf(const Weights& weights, int64_t block) {
  if (!weights.zeroPoints) return static_cast<float>(1 << (kBits - 1));
  const int64_t bit = block * kBits;
  return static_cast<float>((weights.zeroPoints[bit / 8] >> (bit % 8)) & ((1 << kBits) - 1));
}

/// Calls take(w) for the vectors of row n of the weights, with the phase of each, in the order of `arrange`.
template <int kBits, class D, class Take>
HWY_INLINE void forEachVector(D d, const Weights& weights, int64_t n, const Take& take) {
  using Ints = hn::Rebind<int32_t, D>;
  using Bytes = hn::Rebind<uint8_t, D>;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto mask = hn::Set(Ints(), (1 << kBits) - 1);
  const uint8_t* codes = weights.codes + n * weights.blocks * weights.blockBytes;
  for (int64_t b = 0; b < weights.blocks; ++b) {
    const auto scale = hn::Set(d, weights.scales[n * weights.blocks + b]);
    const auto zero = hn::Set(d, zeroOf<kBits>(weights, n * weights.blocks + b));
    for (int64_t c = 0; c < weights.blockBytes; c += lanes, codes += lanes) {
      auto words = hn::PromoteTo(Ints(), hn::LoadU(Bytes(), codes));
#pragma GCC unroll 4
      for (int phase = 0; phase < 8 / kBits; ++phase) {
        const auto code = kBits == 8 ? words : hn::And(words, mask);
        take(hn::Mul(hn::Sub(hn::ConvertTo(d, code), zero), scale), phase);
        words = hn::ShiftRight<kBits>(words);
      }
    }
  }
}

/// The sums of kRows rows with row n. Two sums per row, for codes at even and odd places of a byte, hide the latency.
template <int kBits, int kRows, class D>
HWY_INLINE void dotRows(D d, const Weights& weights, const float* a, int64_t aStride, int64_t n, float* sums) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  hn::Vec<D> even[kRows], odd[kRows];
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r) even[r] = odd[r] = hn::Zero(d);
  forEachVector<kBits>(d, weights, n, [&](auto w, int phase) HWY_ATTR {
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r) {
      auto& sum = phase % 2 == 0 ? even[r] : odd[r];
      sum = hn::MulAdd(hn::LoadU(d, a + r * aStride), w, sum);
    }
    a += lanes;
  });
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r) sums[r] = hn::GetLane(hn::SumOfLanes(d, hn::Add(even[r], odd[r])));
}

struct Job {
  const Weights& weights;
  const float* a;
  const float* bias;
  int64_t begin, end;
  float* y;
  int64_t stride;
};

template <int kBits, int kRows, class D>
HWY_INLINE void columnsOf(D d, const Job& job) {
  const int64_t aStride = job.weights.blocks * job.weights.blockBytes * (8 / kBits);
  float sums[kRows];
  for (int64_t n = job.begin; n < job.end; ++n) {
    dotRows<kBits, kRows>(d, job.weights, job.a, aStride, n, sums);
    for (int r = 0; r < kRows; ++r) job.y[r * job.stride + n] = sums[r] + (job.bias ? job.bias[n] : 0.0f);
  }
}

template <int kBits, class D>
HWY_INLINE void rowsOf(D d, const Job& job, int64_t rows) {
  switch (rows) {
    case 1: return columnsOf<kBits, 1>(d, job);
    case 2: return columnsOf<kBits, 2>(d, job);
    case 3: return columnsOf<kBits, 3>(d, job);
    case 4: return columnsOf<kBits, 4>(d, job);
#if HWY_TARGET == HWY_AVX3
    case 5: return columnsOf<kBits, 5>(d, job);
    case 6: return columnsOf<kBits, 6>(d, job);
    case 7: return columnsOf<kBits, 7>(d, job);
    default: return columnsOf<kBits, 8>(d, job);
#else
    default: return;
#endif
  }
}

template <class D>
HWY_INLINE void productOf(D d, const Job& job, int64_t rows) {
  if (job.weights.bits == 2) return rowsOf<2>(d, job, rows);
  if (job.weights.bits == 4) return rowsOf<4>(d, job, rows);
  rowsOf<8>(d, job, rows);
}

template <int kBits, class D>
HWY_INLINE void widenOf(D d, const Weights& weights, int64_t begin, int64_t end, float* to) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  for (int64_t n = begin; n < end; ++n)
    forEachVector<kBits>(d, weights, n, [&](auto w, int) HWY_ATTR {
      hn::StoreU(w, d, to);
      to += lanes;
    });
}
template <class D>
HWY_INLINE void widenBy(D d, const Weights& weights, int64_t begin, int64_t end, float* to) {
  if (weights.bits == 2) return widenOf<2>(d, weights, begin, end, to);
  if (weights.bits == 4) return widenOf<4>(d, weights, begin, end, to);
  widenOf<8>(d, weights, begin, end, to);
}
void widenAll(const Weights& weights, int64_t begin, int64_t end, float* to) {
  if (isWhole(weights)) return widenBy(Whole(), weights, begin, end, to);
  widenBy(Short(), weights, begin, end, to);
}

int64_t rowsAtOnce() { return kMostRows; }
void arrangeAll(const float* a, int64_t depth, const Weights& weights, float* to) {
  if (isWhole(weights)) return arrangeBy(Whole(), a, depth, weights, to);
  arrangeBy(Short(), a, depth, weights, to);
}
void productAll(const Weights& weights, const float* a, int64_t rows, const float* bias, int64_t begin, int64_t end,
                float* y, int64_t stride) {
  const Job job{weights, a, bias, begin, end, y, stride};
  if (isWhole(weights)) return productOf(Whole(), job, rows);
  productOf(Short(), job, rows);
}

}  // namespace HWY_NAMESPACE
}  // namespace opkit::ops::matmul_nbits
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace opkit::ops::matmul_nbits {

HWY_EXPORT(rowsAtOnce);
HWY_EXPORT(arrangeAll);
HWY_EXPORT(productAll);
HWY_EXPORT(widenAll);

int64_t mostRows() { return HWY_DYNAMIC_DISPATCH(rowsAtOnce)(); }
void arrange(const float* a, int64_t depth, const Weights& weights, float* to) {
  HWY_DYNAMIC_DISPATCH(arrangeAll)(a, depth, weights, to);
}
void productRows(const Weights& weights, const float* a, int64_t rows, const float* bias, int64_t begin, int64_t end,
                 float* y, int64_t stride) {
  HWY_DYNAMIC_DISPATCH(productAll)(weights, a, rows, bias, begin, end, y, stride);
}

void widenRows(const Weights& weights, int64_t begin, int64_t end, float* to) {
  HWY_DYNAMIC_DISPATCH(widenAll)(weights, begin, end, to);
}

}  // namespace opkit::ops::matmul_nbits
#endif
