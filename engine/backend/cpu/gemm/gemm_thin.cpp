// Products of few rows or few columns whose right side is not packed, compiled once per instruction set. Both operands
// are read where they are, since a panel would be used too few times to pay for its packing.
//
// Dots: the depth lies side by side in both operands; a tile of sums has its lanes along the depth, and the lanes are
// added at the end, always in the same order. Sweeps: the lanes lie along the many lines; a sweep adds some steps of
// the depth to all sums, which stay in the first-level cache, so that memory is read in its order.
#include "engine/backend/cpu/gemm/gemm_kernel.h"

#include <algorithm>
#include <limits>

#include "engine/backend/cpu/vector_ops.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/backend/cpu/gemm/gemm_thin.cpp"
#include "engine/backend/cpu/foreach_target.h"

#include "engine/backend/cpu/gemm/gemm_tile-inl.h"

HWY_BEFORE_NAMESPACE();
namespace opkit::cpu::gemm {
namespace HWY_NAMESPACE {

/// Rows of A or columns of B: element p of line i is data[i * lineStride + p * depthStride].
struct Lines {
  const float* data;
  int64_t lineStride, depthStride, count;
};

/// sums[i * fewStride + j * manyStride] of line i of few and line j of many.
struct ThinBlock {
  Lines few, many;
  float* sums;
  int64_t fewStride, manyStride;
  int64_t depth;
};

#if HWY_TARGET <= HWY_AVX3 || HWY_TARGET == HWY_NEON  // 32 registers
constexpr int kMostFew = 4;
#else
constexpr int kMostFew = 2;
#endif
constexpr int kFold = 4;  // sums whose lanes are added together

#if HWY_TARGET == HWY_SCALAR
HWY_INLINE void foldFour(const V (&v)[kFold], float* to) {
  for (int i = 0; i < kFold; ++i) to[i] = hn::GetLane(v[i]);
}
#else
template <class Tag, class Vec>
HWY_INLINE hn::Vec<hn::FixedTag<float, kFold> > foldBlocks(Tag d, Vec v) {
  if constexpr (hn::MaxLanes(Tag()) == kFold) {
    return v;
  } else {
    const hn::Half<Tag> half;
    return foldBlocks(half, hn::Add(hn::LowerHalf(half, v), hn::UpperHalf(half, v)));
  }
}

/// to[i] = the sum of the lanes of v[i].
HWY_INLINE void foldFour(const V (&v)[kFold], float* to) {
  const D d;
  const hn::RepartitionToWide<D> pairs;
  const auto first = hn::Add(hn::InterleaveLower(d, v[0], v[1]), hn::InterleaveUpper(d, v[0], v[1]));
  const auto second = hn::Add(hn::InterleaveLower(d, v[2], v[3]), hn::InterleaveUpper(d, v[2], v[3]));
  const auto a = hn::BitCast(pairs, first), b = hn::BitCast(pairs, second);
  const V four =
      hn::Add(hn::BitCast(d, hn::InterleaveLower(pairs, a, b)), hn::BitCast(d, hn::InterleaveUpper(pairs, a, b)));
  hn::StoreU(foldBlocks(d, four), hn::FixedTag<float, kFold>(), to);
}
#endif

/// The sums of kFew lines with kMany others.
template <int kFew, int kMany>
HWY_NOINLINE void dotTile(const ThinBlock& t, int64_t few, int64_t many) {
  V sum[kFew][kMany];
  HWY_UNROLL(4) for (int i = 0; i < kFew; ++i) {
    HWY_UNROLL(8) for (int j = 0; j < kMany; ++j) sum[i][j] = hn::Zero(D());
  }
  const float* HWY_RESTRICT left = t.few.data + few * t.few.lineStride;
  const float* HWY_RESTRICT right = t.many.data + many * t.many.lineStride;
  const auto add = [&](auto&& loaded) HWY_ATTR {
    V of[kFew];
    HWY_UNROLL(4) for (int i = 0; i < kFew; ++i) of[i] = loaded(left + i * t.few.lineStride);
    HWY_UNROLL(8) for (int j = 0; j < kMany; ++j) {
      const V other = loaded(right + j * t.many.lineStride);
      HWY_UNROLL(4) for (int i = 0; i < kFew; ++i) sum[i][j] = hn::MulAdd(of[i], other, sum[i][j]);
    }
  };
  int64_t p = 0;
  for (; p + kLanes <= t.depth; p += kLanes, left += kLanes, right += kLanes)
    add([](const float* from) HWY_ATTR { return vectors::load(from); });
  if (p < t.depth) add([&](const float* from) HWY_ATTR { return vectors::loadPart(from, t.depth - p); });

  HWY_UNROLL(4) for (int i = 0; i < kFew; ++i) {
    float* const to = t.sums + (few + i) * t.fewStride + many * t.manyStride;
    for (int j = 0; j < kMany; j += kFold) {
      float folded[kFold];
      V four[kFold];
      HWY_UNROLL(4) for (int f = 0; f < kFold; ++f) four[f] = j + f < kMany ? sum[i][j + f] : hn::Zero(D());
      foldFour(four, folded);
      for (int f = 0; f < kFold && j + f < kMany; ++f) to[(j + f) * t.manyStride] = folded[f];
    }
  }
}

/// Many lines pass once, and each of them meets all of few while it is in the cache.
template <int kFew = kMostFew>
void dotGroup(const ThinBlock& t, int64_t few, int64_t many, int64_t count, int lines) {
  if constexpr (kFew > 1) {
    if (count < kFew) return dotGroup<kFew - 1>(t, few, many, count, lines);
  }
  if constexpr (kFew == 1) {
    if (lines == 8) return dotTile<1, 8>(t, few, many);
  }
  lines == 1 ? dotTile<kFew, 1>(t, few, many) : dotTile<kFew, 4>(t, few, many);
}

void computeDots(const ThinBlock& t) {
  const int64_t groups = (t.few.count + kMostFew - 1) / kMostFew, most = (t.few.count + groups - 1) / groups;
  for (int64_t many = 0; many < t.many.count;) {
    const int64_t left = t.many.count - many;
    const int lines = left >= 8 && most == 1 ? 8 : left >= 4 ? 4 : 1;
    for (int64_t few = 0; few < t.few.count; few += most)
      dotGroup(t, few, many, std::min(most, t.few.count - few), lines);
    many += lines;
  }
}

/// Adds kSteps steps of the depth, from `depth` on, to the sums of kFew lines with all others.
template <int kFew, int kSteps>
HWY_NOINLINE void sweep(const ThinBlock& t, int64_t few, int64_t depth) {
  const int64_t count = t.many.count;
  V factor[kFew][kSteps];
  const float* row[kSteps];
  HWY_UNROLL(8) for (int s = 0; s < kSteps; ++s) {
    row[s] = t.many.data + (depth + s) * t.many.depthStride;
    HWY_UNROLL(4)
    for (int i = 0; i < kFew; ++i)
      factor[i][s] = vectors::set(t.few.data[(few + i) * t.few.lineStride + (depth + s) * t.few.depthStride]);
  }
  float* const sums = t.sums + few * t.fewStride;
  const auto add = [&](int64_t j, auto&& loaded, auto&& stored) HWY_ATTR {
    V sum[kFew];
    HWY_UNROLL(4)
    for (int i = 0; i < kFew; ++i) sum[i] = depth == 0 ? hn::Zero(D()) : loaded(sums + i * t.fewStride + j);
    HWY_UNROLL(8) for (int s = 0; s < kSteps; ++s) {
      const V other = loaded(row[s] + j);
      HWY_UNROLL(4) for (int i = 0; i < kFew; ++i) sum[i] = hn::MulAdd(factor[i][s], other, sum[i]);
    }
    HWY_UNROLL(4) for (int i = 0; i < kFew; ++i) stored(sum[i], sums + i * t.fewStride + j);
  };
  int64_t j = 0;
  for (; j + kLanes <= count; j += kLanes)
    add(
        j, [](const float* from) HWY_ATTR { return vectors::load(from); },
        [](V v, float* to) HWY_ATTR { vectors::store(v, to); });
  if (j < count)
    add(
        j, [&](const float* from) HWY_ATTR { return vectors::loadPart(from, count - j); },
        [&](V v, float* to) HWY_ATTR { vectors::storePart(v, to, count - j); });
}

template <int kSteps, int kFew = kMostFew>
void sweepGroup(const ThinBlock& t, int64_t few, int64_t lines, int64_t depth) {
  if constexpr (kFew > 1) {
    if (lines < kFew) return sweepGroup<kSteps, kFew - 1>(t, few, lines, depth);
  }
  sweep<kFew, kSteps>(t, few, depth);
}

void computeSweeps(const ThinBlock& t) {
  constexpr int64_t kSteps = 4;
  const int64_t groups = (t.few.count + kMostFew - 1) / kMostFew, most = (t.few.count + groups - 1) / groups;
  for (int64_t depth = 0; depth < t.depth;) {
    const bool whole = depth + kSteps <= t.depth;
    for (int64_t few = 0; few < t.few.count; few += most) {
      const int64_t lines = std::min(most, t.few.count - few);
      whole ? sweepGroup<kSteps>(t, few, lines, depth) : sweepGroup<1>(t, few, lines, depth);
    }
    depth += whole ? kSteps : 1;
  }
}

/// Parts of the many lines whose sums the first-level cache holds. Where they do not lie side by side in C, they are
/// kept aside first.
void computeSweepsByParts(const ThinBlock& t, float* scratch) {
  const int64_t most = std::max<int64_t>(kSweptFloats / t.few.count / kLanes * kLanes, kLanes);
  for (int64_t first = 0; first < t.many.count; first += most) {
    ThinBlock part = t;
    part.many.data += first;
    part.many.count = std::min(most, t.many.count - first);
    part.sums += first * t.manyStride;
    if (t.manyStride == 1) {
      computeSweeps(part);
      continue;
    }
    float* const sums = part.sums;
    part.sums = scratch;
    part.fewStride = most;
    computeSweeps(part);
    transpose(scratch, most, t.few.count, part.many.count, sums, t.manyStride);
  }
}

/// Scales, bias and limits of `count` elements of a row.
void finishRun(const Epilogue& e, int64_t row, int64_t column, int64_t count, float* c) {
  const float* bias = e.bias ? e.bias + row * e.biasRowStride + column * e.biasColumnStride : nullptr;
  const auto biasAt = [&](int64_t j, int64_t lanes) HWY_ATTR {
    if (!bias) return hn::Zero(D());
    return e.biasColumnStride == 0 ? vectors::set(*bias) : vectors::loadPart(bias + j, lanes);
  };
  for (int64_t j = 0; j < count; j += kLanes) {
    const int64_t lanes = std::min<int64_t>(count - j, kLanes);
    vectors::storePart(finished(vectors::loadPart(c + j, lanes), e, biasAt(j, lanes)), c + j, lanes);
  }
}

bool changesNothing(const Epilogue& e) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  return e.alpha == 1.0f && !e.bias && e.low == -kInfinity && e.high == kInfinity;
}

/// A copy of the lines whose depth lies side by side.
Lines sideBySide(const Lines& lines, int64_t depth, float* to) {
  if (lines.depthStride == 1) return lines;
  if (lines.lineStride == 1) {
    transpose(lines.data, lines.depthStride, depth, lines.count, to, depth);
  } else {
    for (int64_t i = 0; i < lines.count; ++i)
      for (int64_t p = 0; p < depth; ++p) to[i * depth + p] = lines.data[i * lines.lineStride + p * lines.depthStride];
  }
  return {to, depth, 1, lines.count};
}

void computeThinBlock(const Block& block, Thin way) {
  const Problem& problem = *block.problem;
  const Left& left = problem.left;
  const Right& right = problem.right;
  const Lines a{left.data + block.rowBegin * left.rowStride, left.rowStride, left.depthStride,
                block.rowEnd - block.rowBegin};
  const Lines b{right.data + block.columnBegin * right.columnStride, right.columnStride, right.depthStride,
                block.columnEnd - block.columnBegin};
  float* const c = problem.c + block.rowBegin * problem.cRowStride + block.columnBegin;
  const bool fewRows = way == Thin::RowDots || way == Thin::RowSweep;
  ThinBlock t = fewRows ? ThinBlock{a, b, c, problem.cRowStride, 1, block.dims.k}
                        : ThinBlock{b, a, c, 1, problem.cRowStride, block.dims.k};
  if (way == Thin::RowDots || way == Thin::ColumnDots) {
    t.few = sideBySide(t.few, t.depth, block.scratch);
    computeDots(t);
  } else {
    computeSweepsByParts(t, block.scratch);
  }
  if (changesNothing(problem.epilogue)) return;
  for (int64_t row = 0; row < a.count; ++row)
    finishRun(problem.epilogue, block.rowBegin + row, block.columnBegin, b.count, c + row * problem.cRowStride);
}

}  // namespace HWY_NAMESPACE
}  // namespace opkit::cpu::gemm
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace opkit::cpu::gemm {

HWY_EXPORT(computeThinBlock);

namespace {
constexpr int64_t kFewRows = 24;
constexpr int64_t kMostCopied = 1 << 18;  // floats of few lines that are laid side by side, for each thread

bool canCopy(int64_t lines, int64_t depth) { return lines * depth <= kMostCopied; }
}  // namespace

Thin thinOf(const Problem& problem, const Dims& dims) {
  const Left& left = problem.left;
  const Right& right = problem.right;
  if (left.packed || right.form != Right::Form::Strided || dims.k < kLeastDotDepth) return Thin::No;
  const int64_t elements = dims.m * dims.n;
  if (elements * dims.k <= kLoopProducts || (elements == 1 && dims.k <= kLoopDepth)) return Thin::No;
  if (dims.n <= std::min(kFewColumns, dims.m) && left.depthStride == 1 &&
      (right.depthStride == 1 || canCopy(dims.n, dims.k)))
    return Thin::ColumnDots;
  if (dims.m <= kFewRows && right.depthStride == 1 && (left.depthStride == 1 || canCopy(dims.m, dims.k)))
    return Thin::RowDots;
  if (dims.n <= kFewColumns && left.rowStride == 1) return Thin::ColumnSweeps;
  if (dims.m == 1 && right.columnStride == 1) return Thin::RowSweep;
  return Thin::No;
}

int64_t thinFloats(const Dims& dims) {
  int64_t floats = dims.m <= kFewRows && canCopy(dims.m, dims.k) ? dims.m * dims.k : 0;
  if (dims.n > kFewColumns) return floats;
  return std::max({floats, canCopy(dims.n, dims.k) ? dims.n * dims.k : 0, kSweptFloats});
}

void computeThin(const Block& block, Thin way) { HWY_DYNAMIC_DISPATCH(computeThinBlock)(block, way); }

}  // namespace opkit::cpu::gemm
#endif
