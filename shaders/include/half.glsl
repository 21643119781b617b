// Rounding to fp16 in code. Vulkan promises no rounding mode for its conversions, and a device may truncate.
// ops/unary/math_test.cpp compiles this file as C++ and compares it with the host's conversion.
#ifndef OPKIT_HALF_GLSL
#define OPKIT_HALF_GLSL

/// `value` rounded once to the numbers of fp16, ties to even; 65520 and more become infinite, NaN stays. Converting the
/// result to fp16 is exact in every rounding mode.
float roundToHalf(float value) {
  const uint bits = floatBitsToUint(value), magnitude = bits & 0x7FFFFFFFu;
  if (magnitude > 0x7F800000u) return value;
  // fp16 drops the last 13 bits of a mantissa, and one more per power of two below 2^-14.
  const int dropped = clamp(126 - int(magnitude >> 23), 13, 23);
  uint rounded = magnitude + ((1u << (dropped - 1)) - 1u) + ((magnitude >> dropped) & 1u);
  rounded &= ~0u << dropped;
  if (rounded >= 0x47800000u) rounded = 0x7F800000u;                                       // 65536
  if (magnitude < 0x33800000u) rounded = magnitude > 0x33000000u ? 0x33800000u : 0u;  // 2^-24, 2^-25
  return uintBitsToFloat(rounded | (bits & 0x80000000u));
}

#endif
