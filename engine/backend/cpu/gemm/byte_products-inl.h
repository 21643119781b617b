// Products of bytes, four per lane, for byte_gemm_kernel.cpp and byte_gemm_pack.cpp; included by them once per target.
#if defined(OPKIT_BYTE_PRODUCTS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef OPKIT_BYTE_PRODUCTS_INL_H
#undef OPKIT_BYTE_PRODUCTS_INL_H
#else
#define OPKIT_BYTE_PRODUCTS_INL_H
#endif

#include "engine/backend/cpu/gemm/byte_gemm_kernel.h"

HWY_BEFORE_NAMESPACE();
namespace opkit::cpu::bytes {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Ints = hn::ScalableTag<int32_t>;
using Reals = hn::RebindToFloat<Ints>;
using I = hn::Vec<Ints>;
using F = hn::Vec<Reals>;
constexpr int kLanes = static_cast<int>(hn::MaxLanes(Ints()));
constexpr int kQuad = 4;  // neighbours of the depth that are multiplied at once

#if HWY_TARGET == HWY_AVX3
constexpr int kTileVecs = 3;
#else
constexpr int kTileVecs = 2;
#endif
constexpr int kTileColumns = kTileVecs * kLanes;
constexpr int kMostRows = 8;

/// Panels are aligned.
HWY_INLINE I loadWords(const uint8_t* from) { return hn::Load(Ints(), reinterpret_cast<const int32_t*>(from)); }

#define OPKIT_BYTE_PAIRS (HWY_ARCH_X86 && HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128)

/// sum += the products of four bytes per lane, each unsigned one of B with a signed one of A. Operands in the form that
/// the tile keeps in registers.
#if OPKIT_BYTE_PAIRS
using Shorts = hn::RepartitionToNarrow<Ints>;
struct Widened {
  static constexpr int kTileRows = HWY_TARGET == HWY_AVX3 ? 6 : 4;
  static constexpr int kRowsTogether = kTileRows;
  struct Operand {
    hn::Vec<Shorts> even, odd;
  };
  static HWY_INLINE Operand right(I quads) {
    const auto words = hn::BitCast(hn::RebindToUnsigned<Shorts>(), quads);
    return {hn::BitCast(Shorts(), hn::And(words, hn::Set(hn::RebindToUnsigned<Shorts>(), 0xFF))),
            hn::BitCast(Shorts(), hn::ShiftRight<8>(words))};
  }
  static HWY_INLINE Operand left(I quads) {
    const auto words = hn::BitCast(Shorts(), quads);
    return {hn::ShiftRight<8>(hn::ShiftLeft<8>(words)), hn::ShiftRight<8>(words)};
  }
  static HWY_INLINE I add(I sum, const Operand& left, const Operand& right) {
    I unused = hn::Zero(Ints());  // on x86 neighbouring products meet in the first sum
    sum = hn::ReorderWidenMulAccumulate(Ints(), left.even, right.even, sum, unused);
    return hn::ReorderWidenMulAccumulate(Ints(), left.odd, right.odd, sum, unused);
  }
};
#else
struct Widened {
  static constexpr int kTileRows = 4;
  static constexpr int kRowsTogether = kTileRows;
  using Operand = I;
  static HWY_INLINE I right(I quads) { return quads; }
  static HWY_INLINE I left(I quads) { return quads; }
  template <int kByte>
  static HWY_INLINE I product(I left, I right) {
    const I a = hn::ShiftRight<24>(hn::ShiftLeft<24 - 8 * kByte>(left));
    return hn::Mul(a, hn::And(hn::ShiftRight<8 * kByte>(right), hn::Set(Ints(), 0xFF)));
  }
  static HWY_INLINE I add(I sum, I left, I right) {
    sum = hn::Add(hn::Add(sum, product<0>(left, right)), product<1>(left, right));
    return hn::Add(hn::Add(sum, product<2>(left, right)), product<3>(left, right));
  }
};
#endif

#if HWY_TARGET == HWY_AVX3
/// As an instruction, since Highway's target has no flag for VNNI.
struct Vnni {
  static constexpr int kTileRows = 8;
  static constexpr int kRowsTogether = kTileRows;
  using Operand = I;
  static HWY_INLINE I right(I quads) { return quads; }
  static HWY_INLINE I left(I quads) { return quads; }
  template <class V>
  static HWY_INLINE V add(V sum, V left, V right) {
    asm("vpdpbusd %2, %1, %0" : "+v"(sum.raw) : "v"(right.raw), "v"(left.raw));
    return sum;
  }
};
HWY_INLINE bool hasVnni() { return best() >= Instructions::Vnni && __builtin_cpu_supports("avx512vnni") != 0; }
HWY_INLINE bool hasTiles() { return hasVnni() && best() == Instructions::Tiles && permitsTiles(); }
#else
using Vnni = Widened;
HWY_INLINE bool hasVnni() { return false; }
HWY_INLINE bool hasTiles() { return false; }
#endif

/// The products of registers of 16 lines of 64 bytes: two panels of rows with one of columns.
struct Tiles {
  static constexpr int kTileRows = 16;
  static constexpr int kRowsTogether = 2 * kTileRows;
};

HWY_INLINE int64_t tileRows() {
  return hasTiles() ? Tiles::kTileRows : hasVnni() ? Vnni::kTileRows : Widened::kTileRows;
}

/// How registers share the depth: in `blocks` equal parts of `quads`, with zeros behind its end.
struct TileDepth {
  int64_t blocks, quads;
};
HWY_INLINE TileDepth tileDepth(int64_t k) {
  constexpr int64_t kMostQuads = 16;
  const int64_t quads = (k + kQuad - 1) / kQuad, blocks = (quads + kMostQuads - 1) / kMostQuads;
  return {blocks, blocks == 0 ? 0 : (quads + blocks - 1) / blocks};
}

/// Steps of four that a panel has.
HWY_INLINE int64_t quadsOf(int64_t k) {
  if (!hasTiles()) return (k + kQuad - 1) / kQuad;
  const TileDepth depth = tileDepth(k);
  return depth.blocks * depth.quads;
}

#undef OPKIT_BYTE_PAIRS

}  // namespace HWY_NAMESPACE
}  // namespace opkit::cpu::bytes
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
