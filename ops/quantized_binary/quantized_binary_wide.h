// The loops of QLinearAdd and QLinearMul on the CPU, compiled once per instruction set.
#pragma once

#include <cstdint>

namespace opkit::ops::quantized_binary {

/// A run of bytes: element i is bytes[i * stride] ^ flip, less the zero point. Signed bytes have a flip of 128, which
/// makes them 128 larger, as their zero point then is.
struct Operand {
  const uint8_t* bytes = nullptr;
  int64_t stride = 0;  // 0 or 1
  int32_t zeroPoint = 0;
  uint8_t flip = 0;
};
struct Target {
  uint8_t* bytes = nullptr;
  int32_t zeroPoint = 0;
  uint8_t flip = 0;
};

/// Ratios of scales in whole units of 2^-shift: the larger one has 21 bits, so that a sum of two products with a byte
/// has 30.
struct Units {
  int32_t a = 0, b = 0;
  int32_t shift = 0;  // below 0 for ratios from 2^21 on

  /// Ratios that are not finite count as 0.
  static Units of(float a, float b);
};

/// y[i] = round((a[i] * units.a + b[i] * units.b) / 2^units.shift) + zero point, to nearest even, saturated.
void addRun(const Operand& a, const Operand& b, const Units& units, const Target& y, int64_t count);
/// y[i] = round(float(a[i] * b[i]) * ratio) + zero point, likewise; NaN gives the least number.
void multiplyRun(const Operand& a, const Operand& b, float ratio, const Target& y, int64_t count);

}  // namespace opkit::ops::quantized_binary
