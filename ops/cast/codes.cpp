#include "ops/cast/codes.h"

#include <array>
#include <bit>
#include <cmath>

namespace opkit::ops::cast {
namespace {

constexpr uint32_t kInfinity = 0x7F800000;  // bits of a float
constexpr int kFraction = 23, kBias = 127;

/// A float of 8 bits with a sign: `E` bits of exponent, the rest fraction.
template <int E, int B, bool HasInfinity, bool IsFnuz>
struct Eight {
  static constexpr int kBits = 7 - E;
  static constexpr uint32_t kShift = kFraction - kBits;
  static constexpr uint32_t kLargest = HasInfinity ? 0x7Fu - (1u << kBits) : IsFnuz ? 0x7Fu : 0x7Eu;
  static constexpr uint32_t kNaN = IsFnuz ? 0x80 : 0x7F;
  static constexpr uint32_t kOverflow = HasInfinity ? kLargest + 1 : kNaN;
  static constexpr uint32_t kLeastNormal = static_cast<uint32_t>(kBias + 1 - B) << kFraction;
  /// Adding it leaves the units of a denormal result, rounded to nearest even, in the last bits of the sum.
  static constexpr float kAligns =
      std::bit_cast<float>(static_cast<uint32_t>(kBias + 1 - B + static_cast<int>(kShift)) << kFraction);

  static uint32_t encode(float value, uint32_t overflow) {
    const uint32_t bits = std::bit_cast<uint32_t>(value), magnitude = bits & 0x7FFFFFFF;
    const uint32_t normal = ((magnitude + (1u << (kShift - 1)) - 1 + ((magnitude >> kShift) & 1)) >> kShift) -
                            (uint32_t{kBias - B} << kBits);
    const float sum = std::bit_cast<float>(magnitude) + kAligns;
    const uint32_t denormal = std::bit_cast<uint32_t>(sum) - std::bit_cast<uint32_t>(kAligns);
    uint32_t code = magnitude < kLeastNormal ? denormal : normal;
    code = code > kLargest ? overflow : code;
    code = magnitude > kInfinity ? kNaN : code;
    const uint32_t sign = (bits >> 24) & 0x80;
    return IsFnuz && code == 0 ? 0 : code | sign;
  }

  static float decode(uint32_t code) {
    const uint32_t sign = (code & 0x80) << 24, magnitude = code & 0x7F;
    if (IsFnuz ? code == kNaN : magnitude > kLargest + HasInfinity) return std::bit_cast<float>(kInfinity | 1u << 22);
    if (magnitude > kLargest) return std::bit_cast<float>(sign | kInfinity);
    if (magnitude >> kBits != 0)
      return std::bit_cast<float>(sign | ((magnitude << kShift) + (uint32_t{kBias - B} << kFraction)));
    const float unit = std::bit_cast<float>(kLeastNormal - (uint32_t{kBits} << kFraction));
    const float value = static_cast<float>(magnitude) * unit;
    return sign ? -value : value;
  }

  static void encodeAll(Coding coding, const float* __restrict x, uint8_t* __restrict y, int64_t count) {
    const uint32_t overflow = coding.saturate ? kLargest : kOverflow;
    for (int64_t i = 0; i < count; ++i) y[i] = static_cast<uint8_t>(encode(x[i], overflow));
  }
};
using E4M3Fn = Eight<4, 7, false, false>;
using E4M3Fnuz = Eight<4, 8, false, true>;
using E5M2 = Eight<5, 15, true, false>;
using E5M2Fnuz = Eight<5, 16, false, true>;

/// A power of two: the exponent field of a float, which has the same bias.
struct Scale {
  static constexpr uint32_t kNaN = 0xFF, kLargest = 0xFE;
  static constexpr uint32_t kLeast = 1u << (kFraction - 1);  // 2^-127, a denormal float

  static float decode(uint32_t code) {
    if (code == kNaN) return std::bit_cast<float>(kInfinity | 1u << 22);
    return std::bit_cast<float>(code == 0 ? kLeast : code << kFraction);
  }

  static uint32_t encode(uint32_t bits, Coding coding) {
    const uint32_t magnitude = bits & 0x7FFFFFFF;
    if (magnitude > kInfinity || (bits != magnitude && magnitude != 0)) return kNaN;
    if (magnitude > kLargest << kFraction) return coding.saturate ? kLargest : kNaN;
    if (magnitude < kLeast) return coding.saturate ? 0 : kNaN;
    // A denormal has its first bit where the fraction of others begins.
    const bool isDenormal = magnitude < 1u << kFraction;
    const uint32_t rest = isDenormal ? (magnitude - kLeast) << 1 : magnitude & ((1u << kFraction) - 1);
    const bool isUp = coding.roundMode == RoundMode::up        ? rest != 0
                      : coding.roundMode == RoundMode::nearest ? rest >= 1u << (kFraction - 1)
                                                               : false;
    return (magnitude >> kFraction) + isUp;
  }

  static void encodeAll(Coding coding, const float* x, uint8_t* y, int64_t count) {
    for (int64_t i = 0; i < count; ++i) y[i] = static_cast<uint8_t>(encode(std::bit_cast<uint32_t>(x[i]), coding));
  }
};

/// f4e2m1: 0, 0.5, 1, 1.5, 2, 3, 4 and 6 with a sign. The ends of what rounds to each, ties to the even code.
struct Four {
  static float decode(uint32_t code) {
    constexpr std::array<float, 8> kNumbers = {0, 0.5, 1, 1.5, 2, 3, 4, 6};
    return (code & 8) != 0 ? -kNumbers[code & 7] : kNumbers[code & 7];
  }

  static void encodeAll(const float* __restrict x, uint8_t* __restrict y, int64_t count) {
    for (int64_t i = 0; i < count; ++i) {
      const float m = std::fabs(x[i]);
      const int code = (m > 0.25f) + (m >= 0.75f) + (m > 1.25f) + (m >= 1.75f) + (m > 2.5f) + (m >= 3.5f) + (m > 5.0f);
      const uint32_t bits = std::bit_cast<uint32_t>(x[i]);
      const uint32_t negative = (bits >> 31) | static_cast<uint32_t>((bits & 0x7FFFFFFF) > kInfinity);  // NaN: -0
      y[i] = static_cast<uint8_t>(static_cast<uint32_t>(code) | negative << 3);
    }
  }
};

void roundToBrains(const float* __restrict x, uint16_t* __restrict y, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    const uint32_t bits = std::bit_cast<uint32_t>(x[i]);
    const uint32_t rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16, nan = (bits >> 16) | 0x40;
    y[i] = static_cast<uint16_t>((bits & 0x7FFFFFFF) > kInfinity ? nan : rounded);
  }
}

template <class Format>
void decodeEight(const std::byte* codes, float* values, int64_t count) {
  static const std::array<float, 256> table = [] {
    std::array<float, 256> made{};
    for (uint32_t code = 0; code < 256; ++code) made[code] = Format::decode(code);
    return made;
  }();
  for (int64_t i = 0; i < count; ++i) values[i] = table[std::to_integer<size_t>(codes[i])];
}

}  // namespace

void decodeAll(DType dtype, const std::byte* codes, float* values, int64_t count) {
  if (dtype == DType::Float8E4M3FN) return decodeEight<E4M3Fn>(codes, values, count);
  if (dtype == DType::Float8E4M3FNUZ) return decodeEight<E4M3Fnuz>(codes, values, count);
  if (dtype == DType::Float8E5M2) return decodeEight<E5M2>(codes, values, count);
  if (dtype == DType::Float8E5M2FNUZ) return decodeEight<E5M2Fnuz>(codes, values, count);
  if (dtype == DType::Float8E8M0) return decodeEight<Scale>(codes, values, count);
  if (dtype == DType::Float4E2M1) return decodeEight<Four>(codes, values, count);
  const auto* brains = reinterpret_cast<const uint16_t*>(codes);
  for (int64_t i = 0; i < count; ++i) values[i] = std::bit_cast<float>(uint32_t{brains[i]} << 16);
}

void encodeAll(DType dtype, Coding coding, const float* values, std::byte* codes, int64_t count) {
  if (dtype == DType::BFloat16) return roundToBrains(values, reinterpret_cast<uint16_t*>(codes), count);
  auto* eight = reinterpret_cast<uint8_t*>(codes);
  if (dtype == DType::Float8E4M3FN) return E4M3Fn::encodeAll(coding, values, eight, count);
  if (dtype == DType::Float8E4M3FNUZ) return E4M3Fnuz::encodeAll(coding, values, eight, count);
  if (dtype == DType::Float8E5M2) return E5M2::encodeAll(coding, values, eight, count);
  if (dtype == DType::Float8E5M2FNUZ) return E5M2Fnuz::encodeAll(coding, values, eight, count);
  if (dtype == DType::Float4E2M1) return Four::encodeAll(values, eight, count);
  Scale::encodeAll(coding, values, eight, count);
}

namespace {

/// The low `Bits` bits of a byte, the first of them repeated above if the integer is signed.
template <int Bits>
uint8_t widenedCode(uint32_t code, uint32_t sign) {
  return static_cast<uint8_t>(((code & ((1u << Bits) - 1)) ^ sign) - sign);
}

template <int Bits>
void unpackBits(const uint8_t* __restrict from, uint8_t* __restrict to, int64_t count, bool isSigned) {
  constexpr int kPerByte = 8 / Bits;
  const uint32_t sign = isSigned ? 1u << (Bits - 1) : 0;
  for (int64_t i = 0; i < count / kPerByte; ++i)
    for (int k = 0; k < kPerByte; ++k)
      to[i * kPerByte + k] = widenedCode<Bits>(static_cast<uint32_t>(from[i]) >> (k * Bits), sign);
  for (int64_t i = count / kPerByte * kPerByte; i < count; ++i)
    to[i] = widenedCode<Bits>(static_cast<uint32_t>(from[i / kPerByte]) >> (i % kPerByte * Bits), sign);
}

template <int Bits>
void packBits(const uint8_t* __restrict from, uint8_t* __restrict to, int64_t count) {
  constexpr int kPerByte = 8 / Bits;
  constexpr uint32_t kMask = (1u << Bits) - 1;
  for (int64_t i = 0; i < count / kPerByte; ++i) {
    uint32_t byte = 0;
    for (int k = 0; k < kPerByte; ++k) byte |= (from[i * kPerByte + k] & kMask) << (k * Bits);
    to[i] = static_cast<uint8_t>(byte);
  }
  const int64_t whole = count / kPerByte * kPerByte;
  uint32_t last = 0;
  for (int64_t i = whole; i < count; ++i) last |= (from[i] & kMask) << ((i - whole) * Bits);
  if (whole < count) to[whole / kPerByte] = static_cast<uint8_t>(last);
}

}  // namespace

DType unpackedOf(DType packed) { return packed == DType::Int4 || packed == DType::Int2 ? DType::Int8 : DType::UInt8; }

void unpackAll(DType packed, const std::byte* from, std::byte* to, int64_t count) {
  const auto* bytes = reinterpret_cast<const uint8_t*>(from);
  const bool isSigned = unpackedOf(packed) == DType::Int8;
  (bitsOf(packed) == 4 ? unpackBits<4> : unpackBits<2>)(bytes, reinterpret_cast<uint8_t*>(to), count, isSigned);
}

void packAll(DType packed, const std::byte* from, std::byte* to, int64_t count) {
  const auto* bytes = reinterpret_cast<const uint8_t*>(from);
  (bitsOf(packed) == 4 ? packBits<4> : packBits<2>)(bytes, reinterpret_cast<uint8_t*>(to), count);
}

}  // namespace opkit::ops::cast
