// DequantizeLinear: (x - zero point) * scale; 8-bit floats come as f32. Driven by ops/quantize/quantize_vulkan.cpp.
//! variant FROM: i8 u8 i16 u16 i32 f32
//! variant TO: f32 f16
//! variant WIDTH: 1 4
#version 450
#include "elementwise.glsl"
#include "rounded.glsl"
#include "shaders/quantize/scales.glsl"

layout(constant_id = 0) const uint form = 0;  // of the scales of four neighbours

ELEMENTS_IN(0, X, x, FROM)
ELEMENTS_IN(1, Scale, scale, SCALE)
ELEMENTS_IN(2, ZeroPoint, zeroPoint, FROM)
ELEMENTS_OUT(3, Y, y, TO)

layout(push_constant) uniform Push {
  SCALES_PUSH
} push;

DEFINE_SCALE_OF

float dequantized(FROM_ARITH value, float by, int offset) {
#ifdef FROM_F32
  const float difference = value;
#else
  const int whole = int(value) - offset;
#ifdef FROM_I32
  const float difference = uintBitsToFloat(floatBitsOf(whole));  // in code: a device may truncate
#else
  const float difference = float(whole);
#endif
#endif
  return difference * by;
}

void main() {
  FOURS(i, push.count)
    FROM_ARITH4 values = FROM_LOAD4(x, i);
    TO_ARITH4 results = TO_ARITH4(0);
    vec4 scales;
    ivec4 zeroPoints = ivec4(0);
    SCALES_OF_FOUR(i, FROM, scales, zeroPoints)
    EACH_OF_FOUR {
      results = TO_ARITH4(results.yzw, dequantized(values.x, scales.x, zeroPoints.x));
      values = values.yzwx;
      scales = scales.yzwx;
      zeroPoints = zeroPoints.yzwx;
    }
    TO_STORE4(y, i, results);
  ONES(i, push.count)
    const uint s = scaleOf(i);
    TO_STORE(y, i, dequantized(FROM_LOAD(x, i), scale[s], push.hasZeroPoint != 0u ? int(FROM_LOAD(zeroPoint, s)) : 0));
  END_OF_ONES(i, push.count)
}
