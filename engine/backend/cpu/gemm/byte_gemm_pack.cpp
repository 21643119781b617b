// The packing of both operands, compiled once per instruction set.
#include "engine/backend/cpu/gemm/byte_gemm_kernel.h"

#include <algorithm>
#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/backend/cpu/gemm/byte_gemm_pack.cpp"
#include "engine/backend/cpu/foreach_target.h"

#include "engine/backend/cpu/gemm/byte_products-inl.h"

HWY_BEFORE_NAMESPACE();
namespace opkit::cpu::bytes {
namespace HWY_NAMESPACE {
#if HWY_TARGET != HWY_SCALAR
/// Of whole vectors from byte p on, which it moves behind them.
template <class D>
HWY_INLINE int64_t sumVectors(D d, const uint8_t* from, int64_t k, uint8_t flip, int64_t& p) {
  const hn::Repartition<uint64_t, D> eighths;
  const auto flips = hn::Set(d, flip);
  const auto step = static_cast<int64_t>(hn::Lanes(d));
  auto sums = hn::Zero(eighths);
  for (; p + step <= k; p += step) sums = hn::Add(sums, hn::SumsOf8(hn::Xor(hn::LoadU(d, from + p), flips)));
  return static_cast<int64_t>(hn::GetLane(hn::SumOfLanes(eighths, sums)));
}
#endif

/// Of bytes as packed.
int32_t sumOfRow(const uint8_t* from, int64_t k, bool isSigned) {
  const uint8_t flip = isSigned ? 0x80 : 0;
  int64_t sum = -128 * k, p = 0;
#if HWY_TARGET != HWY_SCALAR
  sum += sumVectors(hn::ScalableTag<uint8_t>(), from, k, flip, p);
  sum += sumVectors(hn::FixedTag<uint8_t, 16>(), from, k, flip, p);
#endif
  for (; p < k; ++p) sum += static_cast<uint8_t>(from[p] ^ flip);
  return static_cast<int32_t>(sum);
}

/// [blocks of the depth][rows][bytes of a block], as tile registers take them.
void packTileRows(const Left& left, int64_t m, int64_t k, int64_t row, uint8_t* target) {
  const TileDepth depth = tileDepth(k);
  const int64_t used = std::min<int64_t>(Tiles::kTileRows, m - row), length = depth.quads * kQuad;
  const auto flip = static_cast<uint8_t>(left.isSigned ? 0 : 0x80);
  uint8_t* HWY_RESTRICT to = target;
  for (int64_t begin = 0; begin < depth.blocks * length; begin += length)
    for (int64_t r = 0; r < Tiles::kTileRows; ++r, to += length) {
      const int64_t count = r < used ? std::min(length, k - begin) : 0;
      const uint8_t* HWY_RESTRICT from = left.data + (row + r) * left.rowStride + begin;
      for (int64_t p = 0; p < count; ++p) to[p] = static_cast<uint8_t>(from[p] ^ flip);
      std::memset(to + count, 0, static_cast<size_t>(length - count));
    }
  int32_t sums[Tiles::kTileRows] = {};
  for (int64_t r = 0; r < used; ++r) sums[r] = sumOfRow(left.data + (row + r) * left.rowStride, k, left.isSigned);
  std::memcpy(to, sums, sizeof(sums));
}

using FourRows = const uint8_t* [4];

#if HWY_TARGET != HWY_SCALAR
using Bytes = hn::FixedTag<uint8_t, 16>;
using Words = hn::FixedTag<uint32_t, 4>;
using FourInts = hn::FixedTag<int32_t, 4>;

/// Up to sixteen bytes, then zeros.
HWY_INLINE hn::Vec<Words> loadBytes(const uint8_t* from, [[maybe_unused]] int64_t bytes, uint8_t flip) {
  const Bytes d;
#if HWY_TARGET == HWY_AVX3
  if (bytes < 16) {
    const auto mask = hn::FirstN(d, static_cast<size_t>(bytes));
    return hn::BitCast(Words(), hn::IfThenElseZero(mask, hn::Xor(hn::MaskedLoad(mask, d, from), hn::Set(d, flip))));
  }
#endif
  return hn::BitCast(Words(), hn::Xor(hn::LoadU(d, from), hn::Set(d, flip)));
}

/// Adds the signed bytes of each quad, where the processor has an instruction for it.
HWY_INLINE void addQuads([[maybe_unused]] hn::Vec<FourInts>& sums, [[maybe_unused]] hn::Vec<Words> quads) {
#if HWY_TARGET == HWY_AVX3
  sums = Vnni::add(sums, hn::BitCast(FourInts(), quads), hn::Set(FourInts(), 0x01010101));
#endif
}

/// to[q * step + r] = quad q of row r from byte p on, for up to sixteen bytes.
template <bool kSums>
HWY_INLINE void packBlock(const FourRows& rows, int64_t p, int64_t bytes, uint8_t flip, int64_t step, uint32_t* to,
                          hn::Vec<FourInts> (&sums)[4]) {
  const hn::FixedTag<uint64_t, 2> pairs;
  const auto a = loadBytes(rows[0] + p, bytes, flip), b = loadBytes(rows[1] + p, bytes, flip);
  const auto c = loadBytes(rows[2] + p, bytes, flip), e = loadBytes(rows[3] + p, bytes, flip);
  const auto lowFirst = hn::BitCast(pairs, hn::InterleaveLower(Words(), a, b));
  const auto lowSecond = hn::BitCast(pairs, hn::InterleaveLower(Words(), c, e));
  const auto highFirst = hn::BitCast(pairs, hn::InterleaveUpper(Words(), a, b));
  const auto highSecond = hn::BitCast(pairs, hn::InterleaveUpper(Words(), c, e));
  const hn::Vec<Words> quads[4] = {hn::BitCast(Words(), hn::InterleaveLower(pairs, lowFirst, lowSecond)),
                                   hn::BitCast(Words(), hn::InterleaveUpper(pairs, lowFirst, lowSecond)),
                                   hn::BitCast(Words(), hn::InterleaveLower(pairs, highFirst, highSecond)),
                                   hn::BitCast(Words(), hn::InterleaveUpper(pairs, highFirst, highSecond))};
  HWY_UNROLL(4) for (int i = 0; i < 4; ++i) {
    if (i * kQuad < bytes) hn::StoreU(quads[i], Words(), to + i * step);
    if constexpr (kSums) addQuads(sums[i], quads[i]);
  }
}
#endif

/// to[q * step + r] = quad q of row r, for `count` rows of a panel, at most four; the others are not written. Adds up
/// the rows if kSums.
template <bool kSums>
void packFourRows(const FourRows& rows, int count, int64_t k, uint8_t flip, int64_t step, uint32_t* to, int32_t* sums) {
  int64_t p = 0;
#if HWY_TARGET != HWY_SCALAR
  constexpr int64_t kBlock = 16;
  hn::Vec<FourInts> chains[4] = {hn::Zero(FourInts()), hn::Zero(FourInts()), hn::Zero(FourInts()),
                                 hn::Zero(FourInts())};  // hide the latency
  for (; count == 4 && p + kBlock <= k; p += kBlock)
    packBlock<kSums>(rows, p, kBlock, flip, step, to + p / kQuad * step, chains);
  if (kSums && count == 4 && p < k) {
    packBlock<kSums>(rows, p, k - p, flip, step, to + p / kQuad * step, chains);
    p = k;
  }
  if constexpr (kSums) {
    HWY_ALIGN int32_t lanes[4];
    hn::Store(hn::Add(hn::Add(chains[0], chains[1]), hn::Add(chains[2], chains[3])), FourInts(), lanes);
    std::copy_n(lanes, count, sums);
  }
#endif
  for (int64_t r = 0; r < count; ++r)
    for (int64_t begin = p; begin < k; begin += kQuad) {
      uint8_t quad[kQuad] = {};
      for (int64_t i = 0; i < std::min<int64_t>(kQuad, k - begin); ++i) {
        quad[i] = static_cast<uint8_t>(rows[r][begin + i] ^ flip);
        if constexpr (kSums) sums[r] += static_cast<int8_t>(quad[i]);
      }
      std::memcpy(to + begin / kQuad * step + r, quad, kQuad);
    }
}

/// Where the matrix ends, its last row stands for the rows of the panel that nothing reads.
template <bool kSums>
void packRowsBy(const Left& left, int64_t rows, int64_t used, int64_t k, uint8_t* target, int32_t* sums) {
  const auto flip = static_cast<uint8_t>(left.isSigned ? 0 : 0x80);
  auto* to = reinterpret_cast<uint32_t*>(target);  // panels are aligned
  const auto rowOf = [&](int64_t r) { return left.data + std::min(r, used - 1) * left.rowStride; };
  for (int64_t r = 0; r < rows; r += 4) {
    const int count = static_cast<int>(std::min<int64_t>(rows - r, 4));
    packFourRows<kSums>({rowOf(r), rowOf(r + 1), rowOf(r + 2), rowOf(r + 3)}, count, k, flip, rows, to + r, sums + r);
  }
  if constexpr (!kSums)
    for (int64_t r = 0; r < used; ++r) sums[r] = sumOfRow(rowOf(r), k, left.isSigned);
}

void packRows(const Left& left, int64_t m, int64_t k, int64_t row, uint8_t* target) {
  if (hasTiles()) return packTileRows(left, m, k, row, target);
  const int64_t rows = tileRows(), used = std::min(rows, m - row);
  int32_t sums[kMostRows] = {};
  const Left panel{left.data + row * left.rowStride, left.rowStride, left.isSigned};
  constexpr bool kMayAdd = HWY_TARGET == HWY_AVX3;
  if (kMayAdd && hasVnni())
    packRowsBy<kMayAdd>(panel, rows, used, k, target, sums);
  else
    packRowsBy<false>(panel, rows, used, k, target, sums);
  std::memcpy(target + quadsOf(k) * rows * kQuad, sums, static_cast<size_t>(rows) * sizeof(int32_t));
}

/// A part of a panel's columns whose elements lie side by side in the source.
struct Segment {
  int64_t source, column, count;
};

/// Copies a run; with slack, whole vectors (the surplus is overwritten by what follows, or not used).
HWY_INLINE void copyRun(const uint8_t* HWY_RESTRICT from, uint8_t* HWY_RESTRICT to, int64_t count,
                        [[maybe_unused]] bool slack) {
#if HWY_TARGET != HWY_SCALAR
  if (slack) {
    const hn::FixedTag<uint8_t, 16> d;
    for (int64_t i = 0; i < count; i += 16) hn::StoreU(hn::LoadU(d, from + i), d, to + i);
    return;
  }
#endif
  std::memcpy(to, from, static_cast<size_t>(count));
}

/// to[4 j + i] = rows[i][j] ^ flip
HWY_INLINE void interleave(const uint8_t* const (&rows)[kQuad], uint8_t flip, uint8_t* to) {
#if HWY_TARGET != HWY_SCALAR
  if constexpr (kTileColumns % 16 == 0) {
    const hn::FixedTag<uint8_t, 16> d;
    const auto flips = hn::Set(d, flip);
    for (int j = 0; j < kTileColumns; j += 16)
      hn::StoreInterleaved4(hn::Xor(hn::LoadU(d, rows[0] + j), flips), hn::Xor(hn::LoadU(d, rows[1] + j), flips),
                            hn::Xor(hn::LoadU(d, rows[2] + j), flips), hn::Xor(hn::LoadU(d, rows[3] + j), flips), d,
                            to + j * kQuad);
    return;
  }
#endif
  for (int j = 0; j < kTileColumns; ++j)
    for (int i = 0; i < kQuad; ++i) to[j * kQuad + i] = static_cast<uint8_t>(rows[i][j] ^ flip);
}

template <class Dot>
void sumColumns(const uint8_t* panel, int64_t quads, int32_t* sums) {
  I sum[kTileVecs];
  for (int v = 0; v < kTileVecs; ++v) sum[v] = hn::Zero(Ints());
  const typename Dot::Operand ones = Dot::left(hn::Set(Ints(), 0x01010101));
  for (int64_t q = 0; q < quads; ++q, panel += kTileColumns * kQuad)
    for (int v = 0; v < kTileVecs; ++v)
      sum[v] = Dot::add(sum[v], ones, Dot::right(loadWords(panel + v * kLanes * kQuad)));
  for (int v = 0; v < kTileVecs; ++v) hn::StoreU(sum[v], Ints(), sums + v * kLanes);
}

void packColumns(const Right& right, int64_t k, int64_t n, int64_t column, bool withSums, uint8_t* target) {
  const int64_t columns = std::min<int64_t>(kTileColumns, n - column), quads = quadsOf(k);
  Segment segments[kTileColumns];
  int count = 0;
  for (int64_t done = 0; done < columns;) {
    const int64_t j = column + done, run = right.depthOffsets ? right.runLength : n;
    const int64_t length = std::min(run - j % run, columns - done);
    segments[count++] = {j / run * right.runStride + j % run, done, length};
    done += length;
  }
  const bool inPlace = count == 1 && columns == kTileColumns;
  const auto flip = static_cast<uint8_t>(right.isSigned ? 0x80 : 0);
  HWY_ALIGN uint8_t copies[kQuad][kTileColumns + kGatherSlack];
  std::memset(copies, flip, sizeof(copies));  // zeros behind the last column and the end of the depth
  HWY_ALIGN uint8_t zeros[kTileColumns];
  std::memset(zeros, flip, sizeof(zeros));
  for (int64_t q = 0; q < quads; ++q) {
    const uint8_t* rows[kQuad];
    for (int64_t i = 0; i < kQuad; ++i) {
      const int64_t p = q * kQuad + i;
      rows[i] = p >= k ? zeros : copies[i];
      if (p >= k) continue;
      const uint8_t* from = right.data + (right.depthOffsets ? right.depthOffsets[p] : p * right.depthStride);
      if (inPlace)
        rows[i] = from + segments[0].source;
      else
        for (int s = 0; s < count; ++s)
          copyRun(from + segments[s].source, copies[i] + segments[s].column, segments[s].count, right.slack);
    }
    interleave(rows, flip, target + q * kTileColumns * kQuad);
  }
  if (!withSums) return;
  auto* sums = reinterpret_cast<int32_t*>(target + quads * kTileColumns * kQuad);
  if (hasVnni()) return sumColumns<Vnni>(target, quads, sums);
  sumColumns<Widened>(target, quads, sums);
}

}  // namespace HWY_NAMESPACE
}  // namespace opkit::cpu::bytes
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace opkit::cpu::bytes {

HWY_EXPORT(packRows);
HWY_EXPORT(packColumns);

void packLeftPanel(const Left& left, int64_t m, int64_t k, int64_t row, uint8_t* target) {
  HWY_DYNAMIC_DISPATCH(packRows)(left, m, k, row, target);
}
void packRightPanel(const Right& right, int64_t k, int64_t n, int64_t column, bool withSums, uint8_t* target) {
  HWY_DYNAMIC_DISPATCH(packColumns)(right, k, n, column, withSums, target);
}

}  // namespace opkit::cpu::bytes
#endif
