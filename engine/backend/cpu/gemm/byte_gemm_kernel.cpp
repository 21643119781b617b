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

struct Tile {
  const uint8_t* left;   // the first of its rows in a panel
  const uint8_t* right;  // a panel
  const int32_t* leftSums;
  const int32_t* rightSums;
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

template <class Small>
HWY_INLINE void storeSmall(I values, uint8_t* to, int count) {
  const hn::Rebind<Small, Ints> d;
  if (count == kLanes) return hn::StoreU(hn::DemoteTo(d, values), d, reinterpret_cast<Small*>(to));
  HWY_ALIGN Small lanes[kLanes];
  hn::Store(hn::DemoteTo(d, values), d, lanes);
  for (int i = 0; i < kLanes; ++i)
    if (i < count) to[i] = static_cast<uint8_t>(lanes[i]);
}

HWY_INLINE void storeInts(I values, int32_t* to, int count) {
  if (count == kLanes) return hn::StoreU(values, Ints(), to);
  HWY_ALIGN int32_t lanes[kLanes];
  hn::Store(values, Ints(), lanes);
  for (int i = 0; i < kLanes; ++i)
    if (i < count) to[i] = lanes[i];
}

HWY_INLINE I requantized(I values, F multiplier, const Requantization& to) {
  const Reals d;
  const int32_t low = to.isSigned ? -128 : 0, high = to.isSigned ? 127 : 255;
  const F least = hn::Set(d, static_cast<float>(low - to.zeroPoint));
  const F greatest = hn::Set(d, static_cast<float>(high - to.zeroPoint));
  F scaled = hn::Mul(hn::ConvertTo(d, values), multiplier);
  scaled = hn::IfThenElse(hn::Gt(scaled, least), scaled, least);  // the least for NaN
  scaled = hn::IfThenElse(hn::Lt(scaled, greatest), scaled, greatest);
  return hn::Add(hn::NearestInt(scaled), hn::Set(Ints(), to.zeroPoint));
}

HWY_INLINE F multiplierOf(float left, F right, float target) {
  return hn::Div(hn::Mul(hn::Set(Reals(), left), right), hn::Set(Reals(), target));
}

/// Figures of the rows of a tile. They are copies, because a store of bytes may alias any value behind a pointer.
template <int kRows>
struct RowValues {
  int32_t zeroPoint[kRows];
  int32_t sum[kRows];  // less k zero points
  int32_t bias[kRows];
  float scale[kRows];

  explicit RowValues(const Tile& t) {
    const Problem& problem = *t.problem;
    HWY_UNROLL(8) for (int r = 0; r < kRows; ++r) {
      const int64_t row = t.row + r;
      zeroPoint[r] = problem.leftZeroPoint.data[row * problem.leftZeroPoint.step];
      const uint32_t zeroPoints = static_cast<uint32_t>(t.k) * static_cast<uint32_t>(zeroPoint[r]);
      sum[r] = static_cast<int32_t>(static_cast<uint32_t>(t.leftSums[r]) - zeroPoints);
      bias[r] = problem.bias.data ? problem.bias.data[row * problem.bias.step] : 0;
      scale[r] = problem.y ? problem.requantization.left.data[row * problem.requantization.left.step] : 0.0f;
    }
  }
};

template <int kRows, int kVecs>
HWY_INLINE void finishTile(const Tile& t, I (&sum)[kRows][kVecs]) {
  const Problem& problem = *t.problem;
  const Requantization to = problem.requantization;
  const RowValues<kRows> rows(t);
  const int64_t stride = problem.cRowStride, first = t.row * stride + t.column;
  int32_t* const c = problem.c;
  uint8_t* const y = problem.y;
  const int lastCount = t.columns - (kVecs - 1) * kLanes;
  HWY_UNROLL(3) for (int v = 0; v < kVecs; ++v) {
    const int count = v == kVecs - 1 ? lastCount : kLanes;
    const int64_t column = t.column + v * kLanes;
    const I columnSum = hn::LoadU(Ints(), t.rightSums + v * kLanes);
    const I zeroPoint = loadLine(problem.rightZeroPoint, column, count);
    HWY_UNROLL(8) for (int r = 0; r < kRows; ++r) {
      I value = hn::Sub(sum[r][v], hn::Mul(columnSum, hn::Set(Ints(), rows.zeroPoint[r])));
      value = hn::Sub(value, hn::Mul(zeroPoint, hn::Set(Ints(), rows.sum[r])));
      sum[r][v] = hn::Add(value, hn::Set(Ints(), rows.bias[r]));
    }
    if (c) {
      HWY_UNROLL(8) for (int r = 0; r < kRows; ++r) storeInts(sum[r][v], c + first + r * stride + v * kLanes, count);
      continue;
    }
    const F scale = loadLine(to.right, column, count);
    F multiplier = multiplierOf(rows.scale[0], scale, to.target);
    HWY_UNROLL(8) for (int r = 0; r < kRows; ++r) {
      if (r > 0 && to.left.step != 0) multiplier = multiplierOf(rows.scale[r], scale, to.target);
      const I value = requantized(sum[r][v], multiplier, to);
      uint8_t* const target = y + first + r * stride + v * kLanes;
      if (to.isSigned)
        storeSmall<int8_t>(value, target, count);
      else
        storeSmall<uint8_t>(value, target, count);
    }
  }
}

template <class Dot, int kRows, int kVecs>
HWY_NOINLINE void computeTile(const Tile& t) {
  I sum[kRows][kVecs];
  HWY_UNROLL(8)
  for (int r = 0; r < kRows; ++r) HWY_UNROLL(3) for (int v = 0; v < kVecs; ++v) sum[r][v] = hn::Zero(Ints());
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

/// The rows of one panel that are in use, in tiles of fewer rows at the end.
template <class Dot>
void computePanel(Tile t, int64_t rows) {
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
    t.leftSums += step;
    t.row += step;
  }
}

/// Rows of A that pass by for each panel of B: they stay in the second-level cache.
constexpr int64_t kRowBlockBytes = 1 << 18;

template <class Dot>
void computePanels(const Block& block) {
  const int64_t quads = quadsOf(block.k), leftStride = leftPanelBytes(block.k), rightStride = rightPanelBytes(block.k);
  const int64_t rowsTogether = std::max<int64_t>(kRowBlockBytes / leftStride, 1) * Dot::kTileRows;
  for (int64_t first = block.rowBegin; first < block.rowEnd; first += rowsTogether)
    for (int64_t column = block.columnBegin; column < block.columnEnd; column += kTileColumns)
      for (int64_t row = first; row < std::min(first + rowsTogether, block.rowEnd); row += Dot::kTileRows) {
        const uint8_t* left = block.problem->left + row / Dot::kTileRows * leftStride;
        const uint8_t* right = block.right + (column - block.columnBegin) / kTileColumns * rightStride;
        const auto* leftSums = reinterpret_cast<const int32_t*>(left + quads * Dot::kTileRows * kQuad);
        const auto* rightSums = reinterpret_cast<const int32_t*>(right + quads * kTileColumns * kQuad);
        const int columns = static_cast<int>(std::min<int64_t>(block.columnEnd - column, kTileColumns));
        computePanel<Dot>({left, right, leftSums, rightSums, row, column, columns, block.k, block.problem},
                          std::min<int64_t>(block.rowEnd - row, Dot::kTileRows));
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
