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

/// to[q * step + r] = quad q of row r, for `count` rows of a panel, at most four; the others are not written.
void packFourRows(const uint8_t* from, int64_t rowStride, int count, int64_t k, uint32_t flip, int64_t step,
                  uint32_t* to) {
  int64_t q = 0;
#if HWY_TARGET != HWY_SCALAR
  const hn::FixedTag<uint32_t, 4> d;
  const hn::FixedTag<uint64_t, 2> pairs;
  const auto flips = hn::Set(d, flip);
  const auto row = [&](int64_t r) HWY_ATTR {
    return hn::Xor(hn::LoadU(d, reinterpret_cast<const uint32_t*>(from + r * rowStride + q * kQuad)), flips);
  };
  for (; count == 4 && (q + 4) * kQuad <= k; q += 4) {
    const auto a = row(0), b = row(1), c = row(2), e = row(3);
    const auto lowFirst = hn::BitCast(pairs, hn::InterleaveLower(d, a, b));
    const auto lowSecond = hn::BitCast(pairs, hn::InterleaveLower(d, c, e));
    const auto highFirst = hn::BitCast(pairs, hn::InterleaveUpper(d, a, b));
    const auto highSecond = hn::BitCast(pairs, hn::InterleaveUpper(d, c, e));
    uint32_t* const at = to + q * step;
    hn::StoreU(hn::BitCast(d, hn::InterleaveLower(pairs, lowFirst, lowSecond)), d, at);
    hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(pairs, lowFirst, lowSecond)), d, at + step);
    hn::StoreU(hn::BitCast(d, hn::InterleaveLower(pairs, highFirst, highSecond)), d, at + 2 * step);
    hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(pairs, highFirst, highSecond)), d, at + 3 * step);
  }
#endif
  for (int64_t r = 0; r < count; ++r) {
    const uint8_t* const at = from + r * rowStride;
    int64_t i = q;
    for (; (i + 1) * kQuad <= k; ++i) {
      uint32_t quad;
      std::memcpy(&quad, at + i * kQuad, kQuad);
      to[i * step + r] = quad ^ flip;
    }
    if (i * kQuad == k) continue;
    uint32_t quad = flip;  // zeros behind the end
    std::memcpy(&quad, at + i * kQuad, static_cast<size_t>(k % kQuad));
    to[i * step + r] = quad ^ flip;
  }
}

void packRows(const Left& left, int64_t m, int64_t k, int64_t row, uint8_t* target) {
  if (hasTiles()) return packTileRows(left, m, k, row, target);
  const int64_t rows = tileRows(), quads = quadsOf(k), used = std::min(rows, m - row);
  const uint32_t flip = left.isSigned ? 0 : 0x80808080u;
  const uint8_t* from = left.data + row * left.rowStride;
  auto* to = reinterpret_cast<uint32_t*>(target);  // panels are aligned
  int32_t sums[kMostRows] = {};
  for (int64_t r = 0; r < used; ++r) sums[r] = sumOfRow(from + r * left.rowStride, k, left.isSigned);
  if (used < rows) std::memset(target, 0, static_cast<size_t>(quads * rows * kQuad));
  for (int64_t r = 0; r < used; r += 4)
    packFourRows(from + r * left.rowStride, left.rowStride, static_cast<int>(std::min<int64_t>(used - r, 4)), k, flip,
                 rows, to + r);
  std::memcpy(target + quads * rows * kQuad, sums, static_cast<size_t>(rows) * sizeof(int32_t));
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
