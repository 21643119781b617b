// The register-tile kernels, compiled once per instruction set.
//
// A tile of kRows x kVecs vectors of C lives in registers: per step of k it loads kVecs vectors of B and
// broadcasts kRows elements of A. 16 registers hold 6 x 2 accumulators, 32 hold 8 x 3: both leave room for the
// operands and have more independent chains than FMA latency (4) times ports (2). Short tiles at the edges have
// separate kernels, so no time is spent on rows and vectors outside C.
// A product of few columns, such as a convolution of a short signal, has its vectors along the rows (AVX-512).
#include "engine/backend/cpu/gemm/gemm_kernel.h"

#include <hwy/cache_control.h>

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/backend/cpu/gemm/gemm_kernel.cpp"
#include "engine/backend/cpu/foreach_target.h"

#include "engine/backend/cpu/gemm/gemm_tile-inl.h"

HWY_BEFORE_NAMESPACE();
namespace opkit::cpu::gemm {
namespace HWY_NAMESPACE {

constexpr int64_t kLineFloats = 16;  // of the cache: 64 bytes

PanelShape panelShapeOf() { return {kTileRows, kTileColumns}; }

/// One register tile of C over one depth block.
struct Tile {
  const float* a;      // first row, first depth
  const float* nextA;  // of the next tile; if packed, prefetched into the cache
  int64_t aRowStride;
  int64_t aDepthStride;
  const float* b;           // panel: kTileColumns per depth; or the first element in place
  const int64_t* bOffsets;  // in place: of each depth; null: bStep apart
  int64_t bStep;
  bool bSlack;         // in place: whole vectors may be read
  const float* nextB;  // with more rows and packed panels: the tile's share of the next panel, prefetched
  int64_t depth;
  float* c;
  int64_t cRowStride;
  int columns;  // in use; the last vector may be short
  bool first;   // depth block: C holds no partial sum yet
  bool last;    // depth block: apply the epilogue
  const Epilogue* epilogue;
  const float* bias;  // of the tile's first element
};

/// The tests for whole vectors are decided at compile time in all columns but a tile's last.
HWY_INLINE V loadShort(const float* from, int count) {
  return count == kLanes ? vectors::load(from) : vectors::loadPart(from, count);
}
HWY_INLINE void storeShort(V v, float* to, int count) {
  if (count == kLanes) return vectors::store(v, to);
  vectors::storePart(v, to, count);
}

HWY_INLINE V finish(V sum, const Tile& t, int row, int column, int count) {
  const Epilogue& e = *t.epilogue;
  if (!t.bias) return finished(sum, e, sum);
  const float* from = t.bias + row * e.biasRowStride + column * e.biasColumnStride;
  return finished(sum, e, e.biasColumnStride == 0 ? vectors::set(*from) : loadShort(from, count));
}

/// Where a tile finds its operands.
enum class Operands {
  Packed,   // both in panels
  Left,     // A where it is
  InPlace,  // both where they are
};

template <int kRows, int kVecs, Operands kOperands>
HWY_NOINLINE void computeTile(const Tile& t) {
  constexpr bool kPacked = kOperands == Operands::Packed, kInPlace = kOperands == Operands::InPlace;
  const D d;
  V sum[kRows][kVecs];
  const int lastCount = t.columns - (kVecs - 1) * kLanes;
  const auto countOf = [&](int v) { return v == kVecs - 1 ? lastCount : kLanes; };
  HWY_UNROLL(8) for (int r = 0; r < kRows; ++r) {
    HWY_UNROLL(3) for (int v = 0; v < kVecs; ++v) {
      sum[r][v] = t.first ? hn::Zero(d) : loadShort(t.c + r * t.cRowStride + v * kLanes, countOf(v));
    }
  }
  const int64_t rowStride = kPacked ? 1 : t.aRowStride;
  const int64_t depthStride = kPacked ? kTileRows : t.aDepthStride;
  const float* HWY_RESTRICT a = t.a;
  const float* HWY_RESTRICT b = t.b;
  const float* next = kPacked ? t.nextA : t.nextB;
  const int64_t* HWY_RESTRICT offsets = t.bOffsets;
  const int lastRead = kInPlace && !t.bSlack ? lastCount : kLanes;
  for (int64_t p = 0; p < t.depth; ++p) {
    V right[kVecs];
    if constexpr (kInPlace) {
      const float* row = offsets ? t.b + offsets[p] : b;
      HWY_UNROLL(3)
      for (int v = 0; v < kVecs; ++v) right[v] = loadShort(row + v * kLanes, v == kVecs - 1 ? lastRead : kLanes);
    } else {
      HWY_UNROLL(3) for (int v = 0; v < kVecs; ++v) right[v] = hn::Load(d, b + v * kLanes);
    }
    HWY_UNROLL(8) for (int r = 0; r < kRows; ++r) {
      const V left = hn::Set(d, a[r * rowStride]);
      HWY_UNROLL(3) for (int v = 0; v < kVecs; ++v) sum[r][v] = hn::MulAdd(left, right[v], sum[r][v]);
    }
    if constexpr (kPacked) {
      hwy::Prefetch(next);
      next += kTileRows;
    } else if constexpr (!kInPlace) {
      __builtin_prefetch(next, 0, 2);  // into L2: the present panel fills L1
      next += kLineFloats;
    }
    a += depthStride;
    b += kInPlace ? t.bStep : kTileColumns;
  }
  HWY_UNROLL(8) for (int r = 0; r < kRows; ++r) {
    HWY_UNROLL(3) for (int v = 0; v < kVecs; ++v) {
      const V value = t.last ? finish(sum[r][v], t, r, v * kLanes, countOf(v)) : sum[r][v];
      storeShort(value, t.c + r * t.cRowStride + v * kLanes, countOf(v));
    }
  }
}

using TileFn = void (*)(const Tile&);

/// The kernel of a tile of `rows` x `vecs`, found by recursion over the template's range.
template <Operands kOperands, int kRows = kTileRows, int kVecs = kTileVecs>
TileFn tileFn(int rows, int vecs) {
  if constexpr (kVecs > 1) {
    if (vecs < kVecs) return tileFn<kOperands, kRows, kVecs - 1>(rows, vecs);
  }
  if constexpr (kRows > 1) {
    if (rows < kRows) return tileFn<kOperands, kRows - 1, kVecs>(rows, vecs);
  }
  return &computeTile<kRows, kVecs, kOperands>;
}

/// The part of a block that one depth block adds: panels[..] hold B for [depthBegin, depthEnd).
struct Slice {
  int64_t depthBegin;
  int64_t depthEnd;
  const float* panels;  // of the block's first column, at depthBegin
  int64_t panelStride;  // floats between the panels
};

/// Large weights come from memory while the first tile of rows waits for them, and rest while the others compute. So
/// each tile fetches a line per depth of the next panel: the first tiles of rows cover it together. Where there is
/// nothing to fetch, the panel at hand.
const float* nextShare(const Block& block, const Slice& slice, int64_t row, int64_t column, const float* panel) {
  constexpr int64_t kShares = (kTileColumns + kLineFloats - 1) / kLineFloats;
  const int64_t share = (row - block.rowBegin) / kTileRows;
  const bool fetches = block.problem->right.form == Right::Form::Packed && share < kShares &&
                       block.rowEnd - block.rowBegin > kTileRows && column + kTileColumns < block.columnEnd;
  return fetches ? panel + slice.panelStride + share * (slice.depthEnd - slice.depthBegin) * kLineFloats : panel;
}

Tile tileOf(const Block& block, const Slice& slice, int64_t row, int64_t column) {
  const Problem& problem = *block.problem;
  const Left& left = problem.left;
  const Epilogue& epilogue = problem.epilogue;
  Tile tile;
  tile.a = left.packed ? left.data + row * block.dims.k + slice.depthBegin * kTileRows
                       : left.data + row * left.rowStride + slice.depthBegin * left.depthStride;
  tile.nextA = left.packed && row + kTileRows < block.rowEnd ? tile.a + kTileRows * block.dims.k : tile.a;
  tile.aRowStride = left.rowStride;
  tile.aDepthStride = left.depthStride;
  tile.b = slice.panels + (column - block.columnBegin) / kTileColumns * slice.panelStride;
  tile.bOffsets = nullptr;
  tile.bStep = kTileColumns;
  tile.bSlack = true;
  tile.depth = slice.depthEnd - slice.depthBegin;
  tile.nextB = nextShare(block, slice, row, column, tile.b);
  tile.c = problem.c + row * problem.cRowStride + column;
  tile.cRowStride = problem.cRowStride;
  tile.columns = static_cast<int>(std::min<int64_t>(block.columnEnd - column, kTileColumns));
  tile.first = slice.depthBegin == 0;
  tile.last = slice.depthEnd == block.dims.k;
  tile.epilogue = &epilogue;
  tile.bias =
      epilogue.bias ? epilogue.bias + row * epilogue.biasRowStride + column * epilogue.biasColumnStride : nullptr;
  return tile;
}

#if HWY_TARGET <= HWY_AVX3  // two panels of A fill a vector
constexpr int64_t kNarrowColumns = kTileRows;

/// Bias and limits of up to one vector of rows of a column, as finish() gives them.
HWY_INLINE V finishColumn(V sum, const Tile& t, int64_t row, int column, int64_t rows) {
  const Epilogue& e = *t.epilogue;
  HWY_ALIGN float bias[kLanes] = {};
  if (t.bias)
    for (int64_t i = 0; i < rows; ++i) bias[i] = t.bias[(row + i) * e.biasRowStride + column * e.biasColumnStride];
  return finished(sum, e, hn::Load(D(), bias));
}

/// Up to kVecs vectors of rows of C, which has few columns: lanes along the columns would be idle. `panelStride` is 0
/// if there is one panel only. Sums have the same terms in the same order as those of computeTile.
template <int kColumns, int kVecs>
HWY_NOINLINE void computeNarrow(const Tile& t, int64_t panelStride, int64_t rows) {
  const D d;
  const hn::Half<D> half;
  HWY_ALIGN float c[kColumns][kVecs * kLanes] = {};
  if (!t.first)
    for (int64_t r = 0; r < rows; ++r)
      for (int j = 0; j < kColumns; ++j) c[j][r] = t.c[r * t.cRowStride + j];
  V sum[kVecs][kColumns];
  HWY_UNROLL(4) for (int v = 0; v < kVecs; ++v) {
    HWY_UNROLL(8) for (int j = 0; j < kColumns; ++j) sum[v][j] = hn::Load(d, c[j] + v * kLanes);
  }
  const float* HWY_RESTRICT a = t.a;
  const float* HWY_RESTRICT b = t.b;
  for (int64_t p = 0; p < t.depth; ++p, a += kTileRows, b += kTileColumns) {
    HWY_UNROLL(4) for (int v = 0; v < kVecs; ++v) {
      const float* panels = a + 2 * v * panelStride;
      const V left = hn::Combine(d, hn::LoadU(half, panels + panelStride), hn::LoadU(half, panels));
      HWY_UNROLL(8) for (int j = 0; j < kColumns; ++j) sum[v][j] = hn::MulAdd(left, hn::Set(d, b[j]), sum[v][j]);
    }
  }
  HWY_UNROLL(4) for (int v = 0; v < kVecs; ++v) {
    const int64_t row = v * kLanes;
    HWY_UNROLL(8) for (int j = 0; j < kColumns; ++j) {
      const V value = t.last ? finishColumn(sum[v][j], t, row, j, std::min<int64_t>(kLanes, rows - row)) : sum[v][j];
      hn::Store(value, d, c[j] + row);
    }
  }
  for (int64_t r = 0; r < rows; ++r)
    for (int j = 0; j < kColumns; ++j) t.c[r * t.cRowStride + j] = c[j][r];
}

/// One or two columns need more rows to have enough chains.
template <int kColumns = 1>
void computeNarrowTile(int columns, const Tile& t, int64_t panelStride, int64_t rows, bool whole) {
  if constexpr (kColumns < kNarrowColumns) {
    if (columns > kColumns) return computeNarrowTile<kColumns + 1>(columns, t, panelStride, rows, whole);
  }
  constexpr int kVecs = kColumns <= 2 ? 4 : 2;
  whole ? computeNarrow<kColumns, kVecs>(t, panelStride, rows) : computeNarrow<kColumns, 1>(t, panelStride, rows);
}

void computeNarrowSlice(const Block& block, const Slice& slice) {
  const int columns = static_cast<int>(block.columnEnd - block.columnBegin);
  const int64_t most = (columns <= 2 ? 4 : 2) * kLanes, stride = block.dims.k * kTileRows;
  for (int64_t row = block.rowBegin; row < block.rowEnd;) {
    const int64_t left = block.rowEnd - row, rows = left >= most ? most : std::min<int64_t>(left, kLanes);
    const Tile tile = tileOf(block, slice, row, block.columnBegin);
    computeNarrowTile(columns, tile, rows > kTileRows ? stride : 0, rows, rows == most);
    row += rows;
  }
}
#endif

void computeSlice(const Block& block, const Slice& slice) {
  const bool packed = block.problem->left.packed;
#if HWY_TARGET <= HWY_AVX3
  if (packed && block.columnEnd - block.columnBegin <= kNarrowColumns) return computeNarrowSlice(block, slice);
#endif
  for (int64_t rowBegin = block.rowBegin; rowBegin < block.rowEnd; rowBegin += kRowBlock) {
    const int64_t rowEnd = std::min(rowBegin + kRowBlock, block.rowEnd);
    for (int64_t column = block.columnBegin; column < block.columnEnd; column += kTileColumns) {
      for (int64_t row = rowBegin; row < rowEnd; row += kTileRows) {
        const Tile tile = tileOf(block, slice, row, column);
        const int rows = static_cast<int>(std::min<int64_t>(rowEnd - row, kTileRows));
        const int vecs = (tile.columns + kLanes - 1) / kLanes;
        (packed ? tileFn<Operands::Packed>(rows, vecs) : tileFn<Operands::Left>(rows, vecs))(tile);
      }
    }
  }
}

/// Packing costs more than it saves where a panel serves few rows. Columns of a run lie side by side in memory.
bool readsInPlace(const Block& block) {
  const Right& right = block.problem->right;
  if (block.rowEnd - block.rowBegin > 2 * kTileRows || block.columnEnd - block.columnBegin < kLanes) return false;
  if (right.form == Right::Form::Strided) return right.columnStride == 1;
  if (right.form != Right::Form::Gathered) return false;
  return right.runLength >= 2 * kLanes || (block.columnBegin == 0 && block.columnEnd <= right.runLength);
}

/// Columns [column, end) of a run, for all rows of the block.
void computeRun(const Block& block, const Slice& slice, int64_t column, int64_t end, const float* b) {
  const Problem& problem = *block.problem;
  const Right& right = problem.right;
  const bool isGathered = right.form == Right::Form::Gathered;
  for (int64_t j = column; j < end; j += kTileColumns)
    for (int64_t row = block.rowBegin; row < block.rowEnd; row += kTileRows) {
      Tile tile = tileOf(block, slice, row, j);
      tile.columns = static_cast<int>(std::min<int64_t>(end - j, kTileColumns));
      if (problem.left.packed) {
        tile.aRowStride = 1;
        tile.aDepthStride = kTileRows;
      }
      tile.b = b + (j - column);
      tile.bOffsets = isGathered ? right.depthOffsets + slice.depthBegin : nullptr;
      tile.bStep = right.depthStride;
      tile.bSlack = isGathered && right.slack;
      const int rows = static_cast<int>(std::min<int64_t>(block.rowEnd - row, kTileRows));
      tileFn<Operands::InPlace>(rows, (tile.columns + kLanes - 1) / kLanes)(tile);
    }
}

void computeInPlace(const Block& block, const Slice& slice) {
  const Right& right = block.problem->right;
  if (right.form == Right::Form::Strided)
    return computeRun(block, slice, block.columnBegin, block.columnEnd,
                      right.data + slice.depthBegin * right.depthStride + block.columnBegin);
  for (int64_t column = block.columnBegin; column < block.columnEnd;) {
    const int64_t inRun = column % right.runLength;
    const int64_t end = std::min(column + right.runLength - inRun, block.columnEnd);
    computeRun(block, slice, column, end, right.data + column / right.runLength * right.runStride + inRun);
    column = end;
  }
}

void compute(const Block& block) {
  const Right& right = block.problem->right;
  const int64_t k = block.dims.k;
  const bool inPlace = readsInPlace(block);
  const int64_t step = depthBlock(k);
  int64_t depth = 0;
  do {  // once for k = 0, which gives the bias
    const int64_t end = std::min(depth + step, k);
    if (right.form == Right::Form::Packed) {
      const float* panels = right.data + block.columnBegin * k + depth * kTileColumns;
      computeSlice(block, {depth, end, panels, k * kTileColumns});
    } else if (inPlace) {
      computeInPlace(block, {depth, end, nullptr, 0});
    } else {
      packRightPanels(right, depth, end, block.columnBegin, block.columnEnd, block.scratch);
      computeSlice(block, {depth, end, block.scratch, (end - depth) * kTileColumns});
    }
    depth = end;
  } while (depth < k);
}

}  // namespace HWY_NAMESPACE
}  // namespace opkit::cpu::gemm
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace opkit::cpu::gemm {

HWY_EXPORT(panelShapeOf);
HWY_EXPORT(compute);

PanelShape panelShape() { return HWY_DYNAMIC_DISPATCH(panelShapeOf)(); }

void computeBlock(const Block& block) { HWY_DYNAMIC_DISPATCH(compute)(block); }

}  // namespace opkit::cpu::gemm
#endif
