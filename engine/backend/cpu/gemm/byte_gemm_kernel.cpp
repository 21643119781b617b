// The register tiles, compiled once per instruction set. A tile of kRows x kVecs vectors of C lives in
// registers: per step of four it loads kVecs vectors of B and broadcasts four bytes of kRows rows of A. 32 registers
// hold 8 x 3 sums for vpdpbusd, 6 x 3 for the widened products, which need more of them for operands; 16 hold 4 x 2.
// Tile registers (AMX) multiply 32 rows by a panel first; their sums come from memory, 8 x 3 at a time.
#include "engine/backend/cpu/gemm/byte_gemm_kernel.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/backend/cpu/gemm/byte_gemm_kernel.cpp"
#include "engine/backend/cpu/foreach_target.h"

#include "engine/backend/cpu/gemm/byte_finish-inl.h"
#include "engine/backend/cpu/gemm/byte_products-inl.h"
#include "engine/backend/cpu/gemm/byte_tiles-inl.h"

HWY_BEFORE_NAMESPACE();
namespace opkit::cpu::bytes {
namespace HWY_NAMESPACE {
PanelShape panelShapeOf() { return {tileRows(), kTileColumns}; }
int64_t panelQuadsOf(int64_t k) { return quadsOf(k); }
bool usesTilesOf() { return hasTiles(); }

template <class Dot, int kRows, int kVecs>
HWY_INLINE void addProducts(const Tile& t, I (&sum)[kRows][kVecs]) {
  const uint8_t* HWY_RESTRICT a = t.left;
  const uint8_t* HWY_RESTRICT b = t.right;
  for (int64_t p = quadsOf(t.k); p > 0; --p) {
    typename Dot::Operand right[kVecs];
    HWY_UNROLL(3) for (int v = 0; v < kVecs; ++v) right[v] = Dot::right(loadWords(b + v * kLanes * kQuad));
    HWY_UNROLL(8) for (int r = 0; r < kRows; ++r) {
      int32_t quad;
      std::memcpy(&quad, a + r * kQuad, kQuad);
      const typename Dot::Operand left = Dot::left(hn::Set(Ints(), quad));
      HWY_UNROLL(3) for (int v = 0; v < kVecs; ++v) sum[r][v] = Dot::add(sum[r][v], left, right[v]);
    }
    a += Dot::kTileRows * kQuad;
    b += kTileColumns * kQuad;
  }
}

template <class Dot, int kRows, int kVecs>
HWY_NOINLINE void computeTile(const Tile& t) {
  I sum[kRows][kVecs];
  HWY_UNROLL(8) for (int r = 0; r < kRows; ++r) {
    const I start = hn::Set(Ints(), t.rows->start[t.firstRow + r]);
    HWY_UNROLL(3) for (int v = 0; v < kVecs; ++v) sum[r][v] = start;
  }
  if constexpr (std::is_same_v<Dot, Tiles>) {
    HWY_UNROLL(8) for (int r = 0; r < kRows; ++r) {
      const int32_t* products = t.products + r * kTileColumns;
      HWY_UNROLL(3)
      for (int v = 0; v < kVecs; ++v) sum[r][v] = hn::Add(sum[r][v], hn::Load(Ints(), products + v * kLanes));
    }
  } else {
    addProducts<Dot>(t, sum);
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

/// The rows in use of one panel (of two for Tiles), in tiles of fewer rows at the end.
template <class Dot>
void computePanel(Tile t, int64_t rows) {
  HWY_ALIGN int32_t products[std::is_same_v<Dot, Tiles> ? Tiles::kRowsTogether * kTileColumns : 1];
  if constexpr (std::is_same_v<Dot, Tiles>)
    multiplyTiles(t.left, t.leftStride, t.right, t.k, rows, t.columns, products);
  t.products = products;
  if (std::is_same_v<Dot, Vnni> && t.columns <= kNarrow) {
    if (t.columns == 1) return computeNarrow<1>(t, rows);
    if (t.columns == 2) return computeNarrow<2>(t, rows);
    return t.columns <= 4 ? computeNarrow<4>(t, rows) : computeNarrow<8>(t, rows);
  }
  constexpr int kStep = std::min(Dot::kTileRows, kMostRows);
  for (int64_t done = 0; done < rows;) {
    const int64_t rest = rows - done;
    const int64_t step = rest >= kStep ? kStep : rest >= 4 ? 4 : rest >= 2 ? 2 : 1;
    if (step == kStep)
      computeRows<Dot, kStep>(t);
    else if (step == 4)
      computeRows<Dot, 4>(t);
    else if (step == 2)
      computeRows<Dot, 2>(t);
    else
      computeRows<Dot, 1>(t);
    done += step;
    t.left += step * kQuad;
    if constexpr (std::is_same_v<Dot, Tiles>) t.products += step * kTileColumns;
    t.firstRow += step;
    t.row += step;
  }
}

/// Rows of A that pass by for each panel of B: they stay in the second-level cache.
constexpr int64_t kRowBlockBytes = 1 << 18;

template <class Dot>
void computePanels(const Block& block) {
  const int64_t quads = quadsOf(block.k), leftStride = leftPanelBytes(block.k), rightStride = rightPanelBytes(block.k);
  constexpr int64_t kPanels = Dot::kRowsTogether / Dot::kTileRows;
  const int64_t fitting = std::max<int64_t>(kRowBlockBytes / (kPanels * leftStride), 1);
  const int64_t together = std::min(fitting * Dot::kRowsTogether, Rows::kMost);
  Rows rows;
  for (int64_t first = block.rowBegin; first < block.rowEnd; first += together) {
    const int64_t end = std::min(first + together, block.rowEnd);
    const uint8_t* panels = block.problem->left + first / Dot::kTileRows * leftStride;
    prepare<Dot>(*block.problem, block.k, first, end - first, panels, rows);
    for (int64_t column = block.columnBegin; column < block.columnEnd; column += kTileColumns) {
      const uint8_t* right = block.right + (column - block.columnBegin) / kTileColumns * rightStride;
      const auto* rightSums = reinterpret_cast<const int32_t*>(right + quads * kTileColumns * kQuad);
      const int columns = static_cast<int>(std::min<int64_t>(block.columnEnd - column, kTileColumns));
      for (int64_t row = first; row < end; row += Dot::kRowsTogether) {
        const uint8_t* left = panels + (row - first) / Dot::kTileRows * leftStride;
        computePanel<Dot>(
            {left, right, rightSums, &rows, row - first, row, column, columns, block.k, block.problem, leftStride},
            std::min<int64_t>(end - row, Dot::kRowsTogether));
      }
    }
  }
}

void compute(const Block& block) {
#if HWY_TARGET == HWY_AVX3
  if (hasTiles()) {
    const TileRegisters registers(tileDepth(block.k));
    return computePanels<Tiles>(block);
  }
#endif
  if (hasVnni()) return computePanels<Vnni>(block);
  computePanels<Widened>(block);
}

}  // namespace HWY_NAMESPACE
}  // namespace opkit::cpu::bytes
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace opkit::cpu::bytes {

HWY_EXPORT(panelShapeOf);
HWY_EXPORT(panelQuadsOf);
HWY_EXPORT(usesTilesOf);
HWY_EXPORT(compute);

namespace {
/// Four bytes per line and step of the depth, and a sum per line.
int64_t panelBytes(int64_t k, int64_t lines) {
  return (HWY_DYNAMIC_DISPATCH(panelQuadsOf)(k) * 4 * lines + 4 * lines + 63) / 64 * 64;
}
}  // namespace

PanelShape panelShape() { return HWY_DYNAMIC_DISPATCH(panelShapeOf)(); }
bool usesTiles() { return HWY_DYNAMIC_DISPATCH(usesTilesOf)(); }
int64_t leftPanelBytes(int64_t k) { return panelBytes(k, panelShape().rows); }
int64_t rightPanelBytes(int64_t k) { return panelBytes(k, panelShape().columns); }

void computeBlock(const Block& block) { HWY_DYNAMIC_DISPATCH(compute)(block); }

}  // namespace opkit::cpu::bytes
#endif
