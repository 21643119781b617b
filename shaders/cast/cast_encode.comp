// Cast to a float that is stored as a code. Values that no float holds become an odd float first: bits that it lacks set
// its last one, so that rounding to a code rounds once. Driven by ops/cast/cast_vulkan.cpp.
//! variant FROM: f32 f16 f64 i8 u8 i16 u16 i32 u32 i64 u64 bool
//! variant CODE: u8 u16
//! variant WIDTH: 1 4
#version 450
#include "elementwise.glsl"
#include "shaders/cast/codes.glsl"

#if defined(FROM_I32) || defined(FROM_U32) || defined(FROM_I64) || defined(FROM_U64)
#if defined(FROM_I32) || defined(FROM_U32)
#define WHOLE uint
#else
#define WHOLE uint64_t
#endif
#if defined(FROM_I32) || defined(FROM_I64)
#define MAGNITUDE(value) WHOLE(abs(value))
#define SIGN(value) float(sign(value))
#else
#define MAGNITUDE(value) WHOLE(value)
#define SIGN(value) 1.0
#endif
int highestBit(WHOLE whole) {
#if defined(FROM_I64) || defined(FROM_U64)
  const uint high = uint(whole >> 32);
  if (high != 0u) return 32 + findMSB(high);
#endif
  return findMSB(uint(whole));
}
float oddFloat(FROM_ARITH value) {
  const WHOLE whole = MAGNITUDE(value);
  const int dropped = max(highestBit(whole) - 23, 0);  // bits that a float does not hold
  const uint kept = uint(whole >> dropped);
  const bool more = (WHOLE(kept) << dropped) != whole;
  return SIGN(value) * float(kept | uint(more)) * uintBitsToFloat(uint(dropped + 127) << 23);
}
#elif defined(FROM_F64)
#include "double.glsl"
#define oddFloat(value) oddFloatOf(value)
#else
#define oddFloat(value) float(value)
#endif

ELEMENTS_IN(0, X, x, FROM)
ELEMENTS_OUT(1, Y, y, CODE)

layout(push_constant) uniform Push {
  uint count;
  uint fractionBits;
  uint bias;
  uint sign;
  uint largest;
  uint special;
  uint nan;
  uint saturate;
  uint roundMode;
} push;

uint apply(FROM_ARITH value) {
  const Format format = Format(push.fractionBits, push.bias, push.sign, push.largest, push.special, push.nan);
  return encoded(oddFloat(value), format, push.saturate != 0u, push.roundMode);
}

void main() { MAP_ELEMENTS(apply, y, CODE, x, FROM, push.count) }
