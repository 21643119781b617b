// For the oracles of products of quantised integers alone: differences from zero points, and rounding to 8 bits.
#pragma once

#include <cmath>
#include <cstdint>

#include "engine/op/oracle.h"

namespace opkit::ops::integer_matmul {

/// The low 32 bits as a signed number.
inline int64_t wrapped(int64_t value) { return static_cast<int32_t>(static_cast<uint32_t>(value)); }

/// round(sum * (scale * otherScale / yScale)) + zeroPoint in [-128, 127] or [0, 255]: every product and quotient
/// becomes a float, and the result the nearest whole number, an even one if two are as near. NaN gives the least.
inline int64_t quantized(int64_t sum, double scale, double otherScale, double yScale, int64_t zeroPoint, DType dtype) {
  const int64_t least = dtype == DType::Int8 ? -128 : 0, greatest = least + 255;
  const double both = static_cast<float>(scale * otherScale), multiplier = static_cast<float>(both / yScale);
  const double value = static_cast<float>(static_cast<float>(sum) * multiplier);
  if (std::isnan(value)) return least;
  if (std::fabs(value) > 1e6) return value < 0 ? least : greatest;
  const double below = std::floor(value), rest = value - below;
  const bool isUp = rest > 0.5 || (rest == 0.5 && std::fmod(below, 2) != 0);
  const int64_t whole = static_cast<int64_t>(below) + isUp + zeroPoint;
  return whole < least ? least : whole > greatest ? greatest : whole;
}

}  // namespace opkit::ops::integer_matmul
