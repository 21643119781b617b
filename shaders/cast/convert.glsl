// CONVERT(value): a value of dtype FROM as one of dtype TO. Included by shaders that name the two dtypes as variants, or
// define FROM_F32 for values that they made.
#ifndef OPKIT_CONVERT_GLSL
#define OPKIT_CONVERT_GLSL
#include "double.glsl"

// Converting a float outside the range of an integer type is undefined on a device. Here all are truncated like the
// oracle: NaN gives 0, values beyond 64 bits the nearest limit, and narrower types take the low bits.
#if (defined(FROM_F32) || defined(FROM_F16)) && defined(TO_U64)
#define CONVERT(value) truncatedUnsigned(value)
uint64_t truncatedUnsigned(float value) {
  if (value >= 18446744073709551616.0) return ~uint64_t(0);
  if (value >= 0.0) return uint64_t(value);
  if (value < -9223372036854775808.0) return uint64_t(1) << 63;
  return value < 0.0 ? uint64_t(int64_t(value)) : uint64_t(0);
}
#elif (defined(FROM_F32) || defined(FROM_F16)) && defined(TO_I64)
#define CONVERT(value) truncatedSigned(value)
int64_t truncatedSigned(float value) {
  if (value >= 9223372036854775808.0) return int64_t(~uint64_t(0) >> 1);
  if (value < -9223372036854775808.0) return int64_t(uint64_t(1) << 63);
  return value < 0.0 || value >= 0.0 ? int64_t(value) : int64_t(0);
}
#elif (defined(FROM_F32) || defined(FROM_F16)) && \
    (defined(TO_I8) || defined(TO_U8) || defined(TO_I16) || defined(TO_U16) || defined(TO_I32) || defined(TO_U32))
#define CONVERT(value) lowBits(value)
/// Built from the bits: a device need not support 64-bit integers.
uint lowBits(float value) {
  const uint bits = floatBitsToUint(value), magnitude = bits & 0x7FFFFFFFu;
  const bool negative = (bits >> 31) != 0;
  if (magnitude > 0x7F800000u || magnitude < 0x3F800000u) return 0;  // NaN; below 1
  if (magnitude >= 0x5F000000u) return negative ? 0 : ~0u;           // 2^63 and more
  const int shift = int(magnitude >> 23) - 150;
  const uint mantissa = (magnitude & 0x7FFFFFu) | 0x800000u;
  const uint whole = shift < 0 ? mantissa >> -shift : shift < 32 ? mantissa << shift : 0;
  return negative ? 0u - whole : whole;
}
#elif (defined(FROM_I32) || defined(FROM_U32) || defined(FROM_I64) || defined(FROM_U64)) && \
    (defined(TO_F32) || defined(TO_F16))
// In code: Vulkan promises no rounding mode. An integer that no float holds is infinite in fp16, so rounding to fp16
// afterwards rounds only once.
#define CONVERT(value) nearestFloat(value)
float nearestMagnitude(uint magnitude) {
  const int dropped = findMSB(magnitude) - 23;  // bits that a float does not hold
  if (dropped <= 0) return float(magnitude);
  const uint rest = magnitude & ((1u << dropped) - 1u), tie = 1u << (dropped - 1);
  uint kept = magnitude >> dropped;
  if (rest > tie || (rest == tie && (kept & 1u) != 0u)) ++kept;
  return float(kept) * uintBitsToFloat(uint(dropped + 127) << 23);
}
#if defined(FROM_I32) || defined(FROM_U32)
float nearestFloat(FROM_ARITH value) {
  const bool negative = value < FROM_ARITH(0);
  const float magnitude = nearestMagnitude(negative ? 0u - uint(value) : uint(value));
  return negative ? -magnitude : magnitude;
}
#else
float nearestFloat(FROM_ARITH value) {
  const bool negative = value < FROM_ARITH(0);
  const uint64_t magnitude = negative ? uint64_t(0) - uint64_t(value) : uint64_t(value);
  const uint high = uint(magnitude >> 32);
  const int shift = high == 0u ? 0 : findMSB(high) + 1;
  const bool more = (magnitude & ((uint64_t(1) << shift) - uint64_t(1))) != uint64_t(0);
  // The last of 32 bits, far below a tie, stands for all that were shifted out.
  const float scaled = nearestMagnitude(uint(magnitude >> shift) | uint(more));
  return (negative ? -scaled : scaled) * uintBitsToFloat(uint(shift + 127) << 23);
}
#endif
#elif defined(FROM_F64) && defined(TO_F32)
#define CONVERT(value) nearestFloatOf(value)
#elif defined(FROM_F64) && defined(TO_F16)
#define CONVERT(value) oddFloatOf(value)  // storing rounds it
#elif defined(FROM_F64) && defined(TO_BOOL)
#define CONVERT(value) (!isZero(value))
#elif defined(FROM_F64) && defined(TO_U64)
#define CONVERT(value) truncatedUnsigned(value)
uint64_t truncatedUnsigned(double value) {
  if (value >= 18446744073709551616.0lf) return ~uint64_t(0);
  if (value >= 0.0lf) return uint64_t(value);
  if (value < -9223372036854775808.0lf) return uint64_t(1) << 63;
  return value < 0.0lf ? uint64_t(int64_t(value)) : uint64_t(0);
}
#elif defined(FROM_F64) && !defined(TO_F64)
#define CONVERT(value) truncatedSigned(value)  // narrower types take the low bits
int64_t truncatedSigned(double value) {
  if (value >= 9223372036854775808.0lf) return int64_t(~uint64_t(0) >> 1);
  if (value < -9223372036854775808.0lf) return int64_t(uint64_t(1) << 63);
  return value < 0.0lf || value >= 0.0lf ? int64_t(value) : int64_t(0);
}
#elif defined(TO_F64) && (defined(FROM_F32) || defined(FROM_F16))
#define CONVERT(value) doubleOf(value)
#elif defined(TO_F64) && (defined(FROM_I64) || defined(FROM_U64))
#define CONVERT(value) nearestDouble(value)
// Both halves are exact: the sum is the only rounding.
double nearestDouble(FROM_ARITH value) {
  const bool negative = value < FROM_ARITH(0);
  const uint64_t magnitude = negative ? uint64_t(0) - uint64_t(value) : uint64_t(value);
  const double whole = double(uint(magnitude >> 32)) * 4294967296.0lf + double(uint(magnitude));
  return negative ? -whole : whole;
}
#else
#define CONVERT(value) (value)
#endif

#endif
