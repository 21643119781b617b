// The register tiles, compiled once per instruction set. A tile of kRows x kVecs vectors of C lives in
// registers: per step of four it loads kVecs vectors of B and broadcasts four bytes of kRows rows of A. 32 registers
// hold 8 x 3 sums for vpdpbusd, 6 x 3 for the widened products, which need more of them for operands; 16 hold 4 x 2.
#include "engine/backend/cpu/gemm/byte_gemm_kernel.h"

#include <algorithm>
#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/backend/cpu/gemm/byte_gemm_kernel.cpp"
#include "engine/backend/cpu/foreach_target.h"

#include "engine/backend/cpu/gemm/byte_products-inl.h"

HWY_BEFORE_NAMESPACE();
namespace opkit::cpu::bytes {
namespace HWY_NAMESPACE {
PanelShape panelShapeOf() { return {tileRows(), kTileColumns}; }

/// The terms and scales of each row of sums, computed once for many tiles.
struct Rows {
  static constexpr int64_t kMost = 504;  // a multiple of the rows of every tile
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
};

template <class T>
HWY_INLINE hn::Vec<hn::ScalableTag<T>> loadLine(const PerLine<T>& line, int64_t first, int count) {
  const hn::ScalableTag<T> d;
  if (line.step == 0) return hn::Set(d, *line.data);
  if (count == kLanes) return hn::LoadU(d, line.data + first);
  HWY_ALIGN T lanes[kLanes];
  for (int i = 0; i < kLanes; ++i) lanes[i] = i < count ? line.data[first + i] : T(0);
  return hn::Load(d, lanes);
}

HWY_INLINE void storeBytes(I values, uint8_t* to, int count) {
  const hn::Rebind<uint8_t, Ints> d;
  const auto bytes = hn::TruncateTo(d, hn::BitCast(hn::RebindToUnsigned<Ints>(), values));
  if (count == kLanes) return hn::StoreU(bytes, d, to);
  HWY_ALIGN uint8_t lanes[kLanes];
  hn::Store(bytes, d, lanes);
  for (int i = 0; i < kLanes; ++i)
    if (i < count) to[i] = lanes[i];
}

HWY_INLINE void storeInts(I values, int32_t* to, int count) {
  if (count == kLanes) return hn::StoreU(values, Ints(), to);
  HWY_ALIGN int32_t lanes[kLanes];
  hn::Store(values, Ints(), lanes);
  for (int i = 0; i < kLanes; ++i)
    if (i < count) to[i] = lanes[i];
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

template <class Dot, int kRows, int kVecs>
HWY_NOINLINE void computeTile(const Tile& t) {
  I sum[kRows][kVecs];
  HWY_UNROLL(8) for (int r = 0; r < kRows; ++r) {
    const I start = hn::Set(Ints(), t.rows->start[t.firstRow + r]);
    HWY_UNROLL(3) for (int v = 0; v < kVecs; ++v) sum[r][v] = start;
  }
  const uint8_t* HWY_RESTRICT a = t.left;
  const uint8_t* HWY_RESTRICT b = t.right;
  for (int64_t p = quadsOf(t.k); p > 0; --p) {
    typename Dot::Operand right[kVecs];
    HWY_UNROLL(3) for (int v = 0; v < kVecs; ++v) right[v] = Dot::right(b + v * kLanes * kQuad);
    HWY_UNROLL(8) for (int r = 0; r < kRows; ++r) {
      int32_t quad;
      std::memcpy(&quad, a + r * kQuad, kQuad);
      const typename Dot::Operand left = Dot::left(quad);
      HWY_UNROLL(3) for (int v = 0; v < kVecs; ++v) sum[r][v] = Dot::add(sum[r][v], left, right[v]);
    }
    a += Dot::kTileRows * kQuad;
    b += kTileColumns * kQuad;
  }
  finishTile(t, sum);
}

template <class Dot, int kRows>
void computeRows(const Tile& t) {
  const int vecs = (t.columns + kLanes - 1) / kLanes;
  if constexpr (kTileVecs > 2) {
    if (vecs == 3) return computeTile<Dot, kRows, 3>(t);
  }
  if (vecs == 2) return computeTile<Dot, kRows, 2>(t);
  computeTile<Dot, kRows, 1>(t);
}

#if HWY_TARGET == HWY_AVX3
/// Columns up to which rows lie in lanes.
constexpr int kNarrow = 8;

/// The tile of a whole panel of rows, each in a lane, and the first kColumns columns of a panel. Stores `rows` of them.
template <int kColumns>
HWY_NOINLINE void computeNarrow(const Tile& t, int64_t rows) {
  constexpr int kRows = Vnni::kTileRows, kChains = kColumns == 1 ? 4 : 8 / kColumns;  // hide the latency of sums
  const hn::FixedTag<int32_t, kRows> d;
  const hn::FixedTag<float, kRows> reals;
  using V = hn::Vec<decltype(d)>;
  V sum[kChains][kColumns];
  HWY_UNROLL(8)
  for (int i = 0; i < kChains; ++i) HWY_UNROLL(8) for (int j = 0; j < kColumns; ++j) sum[i][j] = hn::Zero(d);
  const auto add = [&](int64_t quad, V* chain) HWY_ATTR {
    const V left = hn::Load(d, reinterpret_cast<const int32_t*>(t.left + quad * kRows * kQuad));
    const auto* right = reinterpret_cast<const int32_t*>(t.right + quad * kTileColumns * kQuad);
    HWY_UNROLL(8) for (int j = 0; j < kColumns; ++j) chain[j] = Vnni::add(chain[j], left, hn::Set(d, right[j]));
  };
  const int64_t quads = quadsOf(t.k);
  int64_t quad = 0;
  for (; quad + kChains <= quads; quad += kChains)
    HWY_UNROLL(8) for (int i = 0; i < kChains; ++i) add(quad + i, sum[i]);
  for (; quad < quads; ++quad) add(quad, sum[0]);

  const Problem& problem = *t.problem;
  const Requantization to = problem.requantization;
  const V start = hn::Load(d, t.rows->start + t.firstRow), zeroPoints = hn::Load(d, t.rows->zeroPoint + t.firstRow);
  const V sums = hn::Load(d, t.rows->sum + t.firstRow);
  const auto scales = hn::Load(reals, t.rows->scale + t.firstRow);
  HWY_ALIGN int32_t values[kRows];
  for (int j = 0; j < t.columns; ++j) {
    const int64_t column = t.column + j;
    V value = start;
    HWY_UNROLL(8) for (int i = 0; i < kChains; ++i) value = hn::Add(value, sum[i][j]);
    if (t.rows->haveZeroPoints) value = hn::Sub(value, hn::Mul(zeroPoints, hn::Set(d, t.rightSums[j])));
    if (problem.rightZeroPoint.step != 0)
      value = hn::Sub(value, hn::Mul(sums, hn::Set(d, problem.rightZeroPoint.data[column])));
    if (problem.y) {
      auto multiplier = scales;
      if (to.right.step != 0)
        multiplier = hn::Div(hn::Mul(scales, hn::Set(reals, to.right.data[column])), hn::Set(reals, to.target));
      value = requantized(value, multiplier, to);
    }
    hn::Store(value, d, values);
    for (int64_t r = 0; r < rows; ++r) {
      const int64_t at = (t.row + r) * problem.cRowStride + column;
      if (problem.c)
        problem.c[at] = values[r];
      else
        problem.y[at] = static_cast<uint8_t>(values[r]);
    }
  }
}
#else
constexpr int kNarrow = 0;
template <int kColumns>
void computeNarrow(const Tile&, int64_t) {}
#endif

/// The rows of one panel that are in use, in tiles of fewer rows at the end.
template <class Dot>
void computePanel(Tile t, int64_t rows) {
  if (std::is_same_v<Dot, Vnni> && t.columns <= kNarrow) {
    if (t.columns == 1) return computeNarrow<1>(t, rows);
    if (t.columns == 2) return computeNarrow<2>(t, rows);
    return t.columns <= 4 ? computeNarrow<4>(t, rows) : computeNarrow<8>(t, rows);
  }
  for (int64_t done = 0; done < rows;) {
    const int64_t rest = rows - done;
    const int64_t step = rest >= Dot::kTileRows ? Dot::kTileRows : rest >= 4 ? 4 : rest >= 2 ? 2 : 1;
    if (step == Dot::kTileRows)
      computeRows<Dot, Dot::kTileRows>(t);
    else if (step == 4)
      computeRows<Dot, 4>(t);
    else if (step == 2)
      computeRows<Dot, 2>(t);
    else
      computeRows<Dot, 1>(t);
    done += step;
    t.left += step * kQuad;
    t.firstRow += step;
    t.row += step;
  }
}

/// Rows of A that pass by for each panel of B: they stay in the second-level cache.
constexpr int64_t kRowBlockBytes = 1 << 18;

template <class Dot>
void computePanels(const Block& block) {
  const int64_t quads = quadsOf(block.k), leftStride = leftPanelBytes(block.k), rightStride = rightPanelBytes(block.k);
  const int64_t together = std::min(std::max<int64_t>(kRowBlockBytes / leftStride, 1) * Dot::kTileRows, Rows::kMost);
  Rows rows;
  for (int64_t first = block.rowBegin; first < block.rowEnd; first += together) {
    const int64_t end = std::min(first + together, block.rowEnd);
    const uint8_t* panels = block.problem->left + first / Dot::kTileRows * leftStride;
    prepare<Dot>(*block.problem, block.k, first, end - first, panels, rows);
    for (int64_t column = block.columnBegin; column < block.columnEnd; column += kTileColumns) {
      const uint8_t* right = block.right + (column - block.columnBegin) / kTileColumns * rightStride;
      const auto* rightSums = reinterpret_cast<const int32_t*>(right + quads * kTileColumns * kQuad);
      const int columns = static_cast<int>(std::min<int64_t>(block.columnEnd - column, kTileColumns));
      for (int64_t row = first; row < end; row += Dot::kTileRows) {
        const uint8_t* left = panels + (row - first) / Dot::kTileRows * leftStride;
        computePanel<Dot>({left, right, rightSums, &rows, row - first, row, column, columns, block.k, block.problem},
                          std::min<int64_t>(end - row, Dot::kTileRows));
      }
    }
  }
}

void compute(const Block& block) {
  if (hasVnni()) return computePanels<Vnni>(block);
  computePanels<Widened>(block);
}

}  // namespace HWY_NAMESPACE
}  // namespace opkit::cpu::bytes
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace opkit::cpu::bytes {

bool mayUseVnni = true;

HWY_EXPORT(panelShapeOf);
HWY_EXPORT(compute);

namespace {
/// Four bytes per line and step of the depth, and a sum per line.
int64_t panelBytes(int64_t k, int64_t lines) { return ((k + 3) / 4 * 4 * lines + 4 * lines + 63) / 64 * 64; }
}  // namespace

PanelShape panelShape() { return HWY_DYNAMIC_DISPATCH(panelShapeOf)(); }
int64_t leftPanelBytes(int64_t k) { return panelBytes(k, panelShape().rows); }
int64_t rightPanelBytes(int64_t k) { return panelBytes(k, panelShape().columns); }

void computeBlock(const Block& block) { HWY_DYNAMIC_DISPATCH(compute)(block); }

}  // namespace opkit::cpu::bytes
#endif
