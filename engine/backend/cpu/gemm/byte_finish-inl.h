// The ends of a register tile, for byte_gemm_kernel.cpp: zero points and bias enter its sums, which are stored or
// requantised; included by it once per target.
#if defined(OPKIT_BYTE_FINISH_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef OPKIT_BYTE_FINISH_INL_H
#undef OPKIT_BYTE_FINISH_INL_H
#else
#define OPKIT_BYTE_FINISH_INL_H
#endif

#include <algorithm>
#include <cstring>

#include "engine/backend/cpu/gemm/byte_products-inl.h"

HWY_BEFORE_NAMESPACE();
namespace opkit::cpu::bytes {
namespace HWY_NAMESPACE {

/// The terms and scales of each row of sums, computed once for many tiles.
struct Rows {
  static constexpr int64_t kMost = 480;  // a multiple of the rows that any kernel takes together
  static constexpr int64_t kPadded = 512;
  HWY_ALIGN int32_t start[kPadded];  // the bias; with one zero point of all columns, less its product with `sum`
  HWY_ALIGN int32_t zeroPoint[kPadded];
  HWY_ALIGN int32_t sum[kPadded];  // less k zero points
  HWY_ALIGN float scale[kPadded];  // with one scale of all columns, the multiplier
  bool haveZeroPoints = false;
};

struct Tile {
  const uint8_t* left;   // the first of its rows in a panel
  const uint8_t* right;  // a panel
  const int32_t* rightSums;
  const Rows* rows;
  int64_t firstRow;     // in `rows`
  int64_t row, column;  // of C
  int columns;          // in use
  int64_t k;
  const Problem* problem;
  int64_t leftStride;                 // between panels
  const int32_t* products = nullptr;  // of Tiles: the sums of its rows, kTileColumns apart
};

template <class T>
HWY_INLINE hn::Vec<hn::ScalableTag<T>> loadLine(const PerLine<T>& line, int64_t first, int count) {
  const hn::ScalableTag<T> d;
  if (line.step == 0) return hn::Set(d, *line.data);
  if (count == kLanes) return hn::LoadU(d, line.data + first);
#if HWY_TARGET == HWY_AVX3
  return hn::MaskedLoad(hn::FirstN(d, static_cast<size_t>(count)), d, line.data + first);
#else
  HWY_ALIGN T lanes[kLanes];
  for (int i = 0; i < kLanes; ++i) lanes[i] = i < count ? line.data[first + i] : T(0);
  return hn::Load(d, lanes);
#endif
}

HWY_INLINE void storeBytes(I values, uint8_t* to, int count) {
  const hn::Rebind<uint8_t, Ints> d;
  const auto bytes = hn::TruncateTo(d, hn::BitCast(hn::RebindToUnsigned<Ints>(), values));
  if (count == kLanes) return hn::StoreU(bytes, d, to);
#if HWY_TARGET == HWY_AVX3
  hn::BlendedStore(bytes, hn::FirstN(d, static_cast<size_t>(count)), d, to);
#else
  HWY_ALIGN uint8_t lanes[kLanes];
  hn::Store(bytes, d, lanes);
  for (int i = 0; i < kLanes; ++i)
    if (i < count) to[i] = lanes[i];
#endif
}

HWY_INLINE void storeInts(I values, int32_t* to, int count) {
  if (count == kLanes) return hn::StoreU(values, Ints(), to);
#if HWY_TARGET == HWY_AVX3
  hn::BlendedStore(values, hn::FirstN(Ints(), static_cast<size_t>(count)), Ints(), to);
#else
  HWY_ALIGN int32_t lanes[kLanes];
  hn::Store(values, Ints(), lanes);
  for (int i = 0; i < kLanes; ++i)
    if (i < count) to[i] = lanes[i];
#endif
}

/// The least for NaN.
template <class V>
HWY_INLINE V clamped(V values, V least, V greatest) {
#if HWY_ARCH_X86
  return hn::Min(hn::Max(values, least), greatest);  // of a NaN and a number x86 takes the second
#else
  values = hn::IfThenElse(hn::Gt(values, least), values, least);
  return hn::IfThenElse(hn::Lt(values, greatest), values, greatest);
#endif
}

/// The low byte of each lane is the result.
template <class V, class M>
HWY_INLINE V requantized(V values, M multiplier, const Requantization& to) {
  const hn::DFromV<M> d;
  const int32_t low = to.isSigned ? -128 : 0, high = to.isSigned ? 127 : 255;
  const M least = hn::Set(d, static_cast<float>(low - to.zeroPoint));
  const M greatest = hn::Set(d, static_cast<float>(high - to.zeroPoint));
  const M scaled = clamped(hn::Mul(hn::ConvertTo(d, values), multiplier), least, greatest);
  return hn::Add(hn::NearestInt(scaled), hn::Set(hn::DFromV<V>(), to.zeroPoint));
}

/// Of rows [first, first + count) of C; `left` is the panel of the first.
template <class Dot>
void prepare(const Problem& problem, int64_t k, int64_t first, int64_t count, const uint8_t* left, Rows& rows) {
  const int64_t panelBytes = leftPanelBytes(k);
  const uint8_t* panelSums = left + quadsOf(k) * Dot::kTileRows * kQuad;
  for (int64_t i = 0; i < count; i += Dot::kTileRows, panelSums += panelBytes)
    std::memcpy(rows.sum + i, panelSums, Dot::kTileRows * sizeof(int32_t));
  const Requantization& to = problem.requantization;
  const I depth = hn::Set(Ints(), static_cast<int32_t>(k));
  const I rightZeroPoint = hn::Set(Ints(), problem.rightZeroPoint.step == 0 ? *problem.rightZeroPoint.data : 0);
  I all = hn::Zero(Ints());
  for (int64_t i = 0; i < count; i += kLanes) {
    const int used = static_cast<int>(std::min<int64_t>(kLanes, count - i));
    const I zeroPoint = loadLine(problem.leftZeroPoint, first + i, used);
    const I sum = hn::Sub(hn::Load(Ints(), rows.sum + i), hn::Mul(depth, zeroPoint));
    const I bias = problem.bias.data ? loadLine(problem.bias, first + i, used) : hn::Zero(Ints());
    hn::Store(hn::Sub(bias, hn::Mul(rightZeroPoint, sum)), Ints(), rows.start + i);
    hn::Store(sum, Ints(), rows.sum + i);
    hn::Store(zeroPoint, Ints(), rows.zeroPoint + i);
    all = hn::Or(all, zeroPoint);
    if (!problem.y) continue;
    F scale = loadLine(to.left, first + i, used);
    if (to.right.step == 0)
      scale = hn::Div(hn::Mul(scale, hn::Set(Reals(), *to.right.data)), hn::Set(Reals(), to.target));
    hn::Store(scale, Reals(), rows.scale + i);
  }
  rows.haveZeroPoints = !hn::AllTrue(Ints(), hn::Eq(all, hn::Zero(Ints())));
}

template <int kRows, int kVecs>
HWY_INLINE void finishTile(const Tile& t, I (&sum)[kRows][kVecs]) {
  const Problem& problem = *t.problem;
  const Requantization to = problem.requantization;
  const int32_t* const zeroPoints = t.rows->zeroPoint + t.firstRow;
  const int32_t* const sums = t.rows->sum + t.firstRow;
  const float* const scales = t.rows->scale + t.firstRow;
  const int64_t stride = problem.cRowStride, first = t.row * stride + t.column;
  int32_t* const c = problem.c;
  uint8_t* const y = problem.y;
  const int lastCount = t.columns - (kVecs - 1) * kLanes;
  HWY_UNROLL(3) for (int v = 0; v < kVecs; ++v) {
    const int count = v == kVecs - 1 ? lastCount : kLanes;
    const int64_t column = t.column + v * kLanes;
    if (t.rows->haveZeroPoints) {
      const I columnSum = hn::LoadU(Ints(), t.rightSums + v * kLanes);
      HWY_UNROLL(8)
      for (int r = 0; r < kRows; ++r)
        sum[r][v] = hn::Sub(sum[r][v], hn::Mul(columnSum, hn::Set(Ints(), zeroPoints[r])));
    }
    if (problem.rightZeroPoint.step != 0) {
      const I zeroPoint = loadLine(problem.rightZeroPoint, column, count);
      HWY_UNROLL(8)
      for (int r = 0; r < kRows; ++r) sum[r][v] = hn::Sub(sum[r][v], hn::Mul(zeroPoint, hn::Set(Ints(), sums[r])));
    }
    const int64_t at = first + v * kLanes;
    if (c) {
      HWY_UNROLL(8) for (int r = 0; r < kRows; ++r) storeInts(sum[r][v], c + at + r * stride, count);
    } else if (to.right.step == 0) {
      HWY_UNROLL(8)
      for (int r = 0; r < kRows; ++r)
        storeBytes(requantized(sum[r][v], hn::Set(Reals(), scales[r]), to), y + at + r * stride, count);
    } else {
      const F scale = loadLine(to.right, column, count);
      HWY_UNROLL(8) for (int r = 0; r < kRows; ++r) {
        const F multiplier = hn::Div(hn::Mul(hn::Set(Reals(), scales[r]), scale), hn::Set(Reals(), to.target));
        storeBytes(requantized(sum[r][v], multiplier, to), y + at + r * stride, count);
      }
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace opkit::cpu::bytes
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
