// IEEE 754 binary16 conversions, round to nearest even. Exact for every value, including denormals and NaN.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

namespace opkit {

/// A storage type: convert to float to compute.
struct Half {
  uint16_t bits = 0;
};

inline float toFloat(Half half) {
  const uint32_t sign = static_cast<uint32_t>(half.bits & 0x8000u) << 16;
  const uint32_t exponent = (half.bits >> 10) & 0x1Fu;
  const uint32_t mantissa = half.bits & 0x3FFu;
  if (exponent == 0x1F) return std::bit_cast<float>(sign | 0x7F800000u | (mantissa << 13));
  if (exponent != 0) return std::bit_cast<float>(sign | ((exponent + 112) << 23) | (mantissa << 13));
  const float magnitude = static_cast<float>(mantissa) * 0x1p-24f;
  return sign ? -magnitude : magnitude;
}

/// Rounds once, straight from double, so that a double oracle is not rounded twice on its way to fp16.
inline Half toHalf(double value) {
  const uint16_t sign = std::signbit(value) ? 0x8000u : 0u;
  const double magnitude = std::fabs(value);
  if (std::isnan(value)) return {static_cast<uint16_t>(sign | 0x7E00u)};
  if (magnitude >= 65520.0) return {static_cast<uint16_t>(sign | 0x7C00u)};
  if (magnitude == 0.0) return {sign};
  int exponent = 0;
  std::frexp(magnitude, &exponent);                  // magnitude = m * 2^exponent, m in [0.5, 1)
  const int quantum = std::max(exponent - 11, -24);  // weight of the last kept bit
  const auto units = static_cast<uint32_t>(std::nearbyint(std::ldexp(magnitude, -quantum)));
  // units carries the hidden bit: adding it to the biased exponent field below handles carries by itself.
  const uint32_t field = quantum == -24 ? units : (static_cast<uint32_t>(quantum + 24) << 10) + units;
  return {static_cast<uint16_t>(sign | field)};
}

}  // namespace opkit
