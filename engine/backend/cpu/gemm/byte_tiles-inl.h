// Products in the tile registers of AMX, for byte_gemm_kernel.cpp; included by it once per target. A register has 16
// lines of up to 64 bytes: of a panel of rows as many of the depth, of a panel of columns 16 columns of four.
#if defined(OPKIT_BYTE_TILES_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef OPKIT_BYTE_TILES_INL_H
#undef OPKIT_BYTE_TILES_INL_H
#else
#define OPKIT_BYTE_TILES_INL_H
#endif

#include <algorithm>
#include <type_traits>

#include "engine/backend/cpu/gemm/byte_products-inl.h"

HWY_BEFORE_NAMESPACE();
namespace opkit::cpu::bytes {
namespace HWY_NAMESPACE {

#if HWY_TARGET == HWY_AVX3

/// As instructions, since Highway's target has no flag for AMX; the compiler itself uses no tile register.
template <int kTile>
HWY_INLINE void clearTile() {
  asm volatile("tilezero %%tmm%c0" : : "i"(kTile));
}
template <int kTile>
HWY_INLINE void loadTile(const uint8_t* from, int64_t stride) {
  asm volatile("tileloadd (%1,%2,1), %%tmm%c0" : : "i"(kTile), "r"(from), "r"(stride) : "memory");
}
template <int kTile>
HWY_INLINE void storeTile(int32_t* to, int64_t stride) {
  asm volatile("tilestored %%tmm%c0, (%1,%2,1)" : : "i"(kTile), "r"(to), "r"(stride) : "memory");
}
/// Tile kSum += the products of the signed bytes of tile 6 with the unsigned ones of tile 7.
template <int kSum>
HWY_INLINE void multiplyTile() {
  asm volatile("tdpbsud %%tmm7, %%tmm6, %%tmm%c0" : : "i"(kSum));
}

/// Sets the registers up for blocks of this depth and gives them back: a thread that holds them makes switches of
/// threads dearer.
class TileRegisters {
 public:
  explicit TileRegisters(const TileDepth& depth) {
    constexpr int kLeft = 6, kRight = 7;
    struct alignas(64) {
      uint8_t palette = 1, start = 0, reserved[14] = {};
      uint16_t lineBytes[16] = {};
      uint8_t lines[16] = {};
    } shapes;
    const auto quads = static_cast<uint8_t>(std::max<int64_t>(depth.quads, 1));
    for (int i = 0; i <= kRight; ++i) {
      shapes.lineBytes[i] = i == kLeft ? static_cast<uint16_t>(quads * kQuad) : uint16_t{64};
      shapes.lines[i] = i == kRight ? quads : uint8_t{16};
    }
    asm volatile("ldtilecfg %0" : : "m"(shapes));
  }
  ~TileRegisters() { asm volatile("tilerelease"); }
  TileRegisters(const TileRegisters&) = delete;
  TileRegisters& operator=(const TileRegisters&) = delete;
};

/// sums = the products of kPanels panels of rows, `leftStride` apart, with the first kVecs vectors of a panel of
/// columns. Two panels and three vectors take six registers of sums; one loads operands while another multiplies.
template <int kPanels, int kVecs>
void multiplyTiles(const uint8_t* left, int64_t leftStride, const uint8_t* right, const TileDepth& depth,
                   int32_t* sums) {
  constexpr int64_t kRightStride = kTileColumns * kQuad, kSumStride = kTileColumns * 4;
  constexpr bool kWide = kVecs > 1, kWidest = kVecs > 2;
  const int64_t line = depth.quads * kQuad;
  const auto addPanel = [&]<int kSum>(const uint8_t* rows, std::integral_constant<int, kSum>) HWY_ATTR {
    loadTile<6>(rows, line);
    loadTile<7>(right, kRightStride);
    multiplyTile<kSum>();
    if constexpr (kWide) loadTile<7>(right + 64, kRightStride), multiplyTile<kSum + 1>();
    if constexpr (kWidest) loadTile<7>(right + 128, kRightStride), multiplyTile<kSum + 2>();
  };
  const auto storePanel = [&]<int kSum>(int32_t* to, std::integral_constant<int, kSum>) HWY_ATTR {
    storeTile<kSum>(to, kSumStride);
    if constexpr (kWide) storeTile<kSum + 1>(to + kLanes, kSumStride);
    if constexpr (kWidest) storeTile<kSum + 2>(to + 2 * kLanes, kSumStride);
  };
  clearTile<0>(), clearTile<1>(), clearTile<2>(), clearTile<3>(), clearTile<4>(), clearTile<5>();
  for (int64_t block = 0; block < depth.blocks; ++block) {
    addPanel(left, std::integral_constant<int, 0>());
    if constexpr (kPanels > 1) addPanel(left + leftStride, std::integral_constant<int, 3>());
    left += Tiles::kTileRows * line;
    right += depth.quads * kRightStride;
  }
  storePanel(sums, std::integral_constant<int, 0>());
  if constexpr (kPanels > 1) storePanel(sums + Tiles::kTileRows * kTileColumns, std::integral_constant<int, 3>());
}

template <int kPanels>
void multiplyTiles(const uint8_t* left, int64_t stride, const uint8_t* right, int64_t k, int columns, int32_t* sums) {
  const TileDepth depth = tileDepth(k);
  if (columns > 2 * kLanes) return multiplyTiles<kPanels, 3>(left, stride, right, depth, sums);
  if (columns > kLanes) return multiplyTiles<kPanels, 2>(left, stride, right, depth, sums);
  multiplyTiles<kPanels, 1>(left, stride, right, depth, sums);
}

/// sums[row * kTileColumns + column] of `rows` of two panels.
inline void multiplyTiles(const uint8_t* left, int64_t leftStride, const uint8_t* right, int64_t k, int64_t rows,
                          int columns, int32_t* sums) {
  if (rows > Tiles::kTileRows) return multiplyTiles<2>(left, leftStride, right, k, columns, sums);
  multiplyTiles<1>(left, leftStride, right, k, columns, sums);
}

#else
inline void multiplyTiles(const uint8_t*, int64_t, const uint8_t*, int64_t, int64_t, int, int32_t*) {}
#endif

}  // namespace HWY_NAMESPACE
}  // namespace opkit::cpu::bytes
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
