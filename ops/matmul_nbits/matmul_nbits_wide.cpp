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

/// Turns the codes of a block into floats: by a table in one register if its lanes hold all codes, else by arithmetic.
template <int kBits, class D>
class Decoder {
 public:
  using Ints = hn::Rebind<int32_t, D>;

  HWY_INLINE void start(D d, float scale, float zero) {
    scale_ = hn::Set(d, scale);
    zero_ = hn::Set(d, zero);
    if constexpr (kHasTable) table_ = valuesOf(d, hn::Iota(Ints(), 0));
  }
  HWY_INLINE hn::Vec<D> operator()(D d, hn::Vec<Ints> codes) const {
    if constexpr (kHasTable) return hn::TableLookupLanes(table_, hn::IndicesFromVec(d, codes));
    return valuesOf(d, codes);
  }

 private:
  static constexpr bool kHasTable = kBits <= 4 && hn::MaxLanes(D()) >= 16;
  HWY_INLINE hn::Vec<D> valuesOf(D d, hn::Vec<Ints> codes) const {
    return hn::Mul(hn::Sub(hn::ConvertTo(d, codes), zero_), scale_);
  }
  hn::Vec<D> scale_, zero_, table_;
};

/// Calls take(w) for the vectors of rows n to n + kColumns of the weights, one of each row at a time, in the
/// order of `arrange`.
template <int kBits, int kColumns, class D, class Take>
HWY_INLINE void forEachVector(D d, const Weights& weights, int64_t n, const Take& take) {
  using Ints = hn::Rebind<int32_t, D>;
  using Bytes = hn::Rebind<uint8_t, D>;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d)), rowBytes = weights.blocks * weights.blockBytes;
  const auto mask = hn::Set(Ints(), (1 << kBits) - 1);
  const uint8_t* codes = weights.codes + n * rowBytes;
  for (int64_t b = 0; b < weights.blocks; ++b) {
    Decoder<kBits, D> decoders[kColumns];
#pragma GCC unroll 4
    for (int column = 0; column < kColumns; ++column) {
      const int64_t block = (n + column) * weights.blocks + b;
      decoders[column].start(d, weights.scales[block], zeroOf<kBits>(weights, block));
    }
    for (int64_t c = 0; c < weights.blockBytes; c += lanes, codes += lanes) {
      hn::Vec<Ints> words[kColumns];
      hn::Vec<D> w[kColumns];
#pragma GCC unroll 4
      for (int column = 0; column < kColumns; ++column)
        words[column] = hn::PromoteTo(Ints(), hn::LoadU(Bytes(), codes + column * rowBytes));
#pragma GCC unroll 4
      for (int phase = 0; phase < 8 / kBits; ++phase) {
#pragma GCC unroll 4
        for (int column = 0; column < kColumns; ++column) {
          w[column] = decoders[column](d, kBits == 8 ? words[column] : hn::And(words[column], mask));
          words[column] = hn::ShiftRight<kBits>(words[column]);
        }
        take(w);
      }
    }
  }
}

/// sums[r][c]: row r of a with row n + c of the weights. One vector of sums for each: several columns hide the latency.
template <int kBits, int kRows, int kColumns, class D>
HWY_INLINE void dotTile(D d, const Weights& weights, const float* a, int64_t n, float (*sums)[kColumns]) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const int64_t aStride = weights.blocks * weights.blockBytes * (8 / kBits);
  hn::Vec<D> parts[kRows][kColumns];
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r)
    for (auto& part : parts[r]) part = hn::Zero(d);
  forEachVector<kBits, kColumns>(d, weights, n, [&](const hn::Vec<D>* w) HWY_ATTR {
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r) {
      const auto left = hn::LoadU(d, a + r * aStride);
#pragma GCC unroll 4
      for (int c = 0; c < kColumns; ++c) parts[r][c] = hn::MulAdd(left, w[c], parts[r][c]);
    }
    a += lanes;
  });
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r)
#pragma GCC unroll 4
    for (int c = 0; c < kColumns; ++c) sums[r][c] = hn::GetLane(hn::SumOfLanes(d, parts[r][c]));
}

struct Job {
  const Weights& weights;
  const float* a;
  const float* bias;
  int64_t begin, end;
  float* y;
  int64_t stride;
};

template <int kBits, int kRows, int kColumns, class D>
HWY_INLINE void tileOf(D d, const Job& job, int64_t n) {
  float sums[kRows][kColumns];
  dotTile<kBits, kRows, kColumns>(d, job.weights, job.a, n, sums);
  for (int r = 0; r < kRows; ++r)
    for (int c = 0; c < kColumns; ++c) job.y[r * job.stride + n + c] = sums[r][c] + (job.bias ? job.bias[n + c] : 0.0f);
}

template <int kBits, int kRows, class D>
HWY_INLINE void columnsOf(D d, const Job& job) {
  constexpr int kColumns = kRows * 4 <= 2 * kMostRows ? 4 : 2;  // with the sums, as many as there are registers for
  int64_t n = job.begin;
  for (; n + kColumns <= job.end; n += kColumns) tileOf<kBits, kRows, kColumns>(d, job, n);
  for (; n < job.end; ++n) tileOf<kBits, kRows, 1>(d, job, n);
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

/// Blocks of few bytes are rare: four rows at a time and single ones, in place of a form for each number.
template <int kBits>
HWY_INLINE void rowsOf(Short d, Job job, int64_t rows) {
  const int64_t aStride = job.weights.blocks * job.weights.blockBytes * (8 / kBits);
  for (int64_t taken = 0; rows > 0; rows -= taken, job.a += taken * aStride, job.y += taken * job.stride) {
    taken = rows >= 4 ? 4 : 1;
    if (taken == 4)
      columnsOf<kBits, 4>(d, job);
    else
      columnsOf<kBits, 1>(d, job);
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
    forEachVector<kBits, 1>(d, weights, n, [&](const hn::Vec<D>* w) HWY_ATTR {
      hn::StoreU(*w, d, to);
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
