// Cast from a float that is stored as a code. Driven by ops/cast/cast_vulkan.cpp.
//! variant CODE: u8 u16
//! variant TO: f32 f16 f64 i8 u8 i16 u16 i32 u32 i64 u64 bool
//! variant WIDTH: 1 4
#version 450
#include "elementwise.glsl"
#define FROM_F32  // of decoded values
#include "shaders/cast/codes.glsl"
#include "shaders/cast/convert.glsl"
#ifdef TO_BOOL  // by its bits: a device may take denormals for zero
#undef CONVERT
#define CONVERT(value) ((floatBitsToUint(value) & 0x7FFFFFFFu) != 0u)
#endif

ELEMENTS_IN(0, X, x, CODE)
ELEMENTS_OUT(1, Y, y, TO)

layout(push_constant) uniform Push {
  uint count;
  uint fractionBits;
  uint bias;
  uint sign;
  uint largest;
  uint special;
  uint nan;
} push;

#define APPLY(code)                                                                                               \
  CONVERT(decoded(uint(code), Format(push.fractionBits, push.bias, push.sign, push.largest, push.special, push.nan)))

void main() { MAP_ELEMENTS(APPLY, y, TO, x, CODE, push.count) }
