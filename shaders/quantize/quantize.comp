// QuantizeLinear: x / scale, rounded as the precision says, then to nearest even, plus the zero point; or the quotient
// alone (f32), which Cast makes an 8-bit float. Driven by ops/quantize/quantize_vulkan.cpp.
//! variant FROM: f32 f16
//! variant TO: i8 u8 i16 u16 f32
//! variant WIDTH: 1 4
#version 450
#include "elementwise.glsl"
#include "rounded.glsl"
#include "shaders/quantize/scales.glsl"

layout(constant_id = 0) const uint rounding = 0;  // of the quotient: to f32, f16, bf16
layout(constant_id = 1) const uint form = 0;      // of the scales of four neighbours

ELEMENTS_IN(0, X, x, FROM)
ELEMENTS_IN(1, Scale, scale, SCALE)
ELEMENTS_IN(2, ZeroPoint, zeroPoint, TO)
ELEMENTS_OUT(3, Y, y, TO)

layout(push_constant) uniform Push {
  SCALES_PUSH
  int least;
  int greatest;
} push;

DEFINE_SCALE_OF

uint inPrecision(uint bits) {
  if (rounding == 1u) return floatBitsToUint(roundToHalf(uintBitsToFloat(bits)));
  return rounding == 2u ? brainBits(bits) : bits;
}

TO_ARITH quantized(float value, float by, int offset) {
  const uint dividend = inPrecision(floatBitsToUint(value)), divisor = inPrecision(floatBitsToUint(by));
  const uint quotient = inPrecision(quotientBits(dividend, divisor));
#ifdef TO_F32
  return uintBitsToFloat(quotient);
#else
  return TO_ARITH(wholeWithin(quotient, offset, push.least, push.greatest));
#endif
}

void main() {
  FOURS(i, push.count)
    FROM_ARITH4 values = FROM_LOAD4(x, i);
    TO_ARITH4 results = TO_ARITH4(0);
    vec4 scales;
    ivec4 zeroPoints = ivec4(0);
    SCALES_OF_FOUR(i, TO, scales, zeroPoints)
    EACH_OF_FOUR {
      results = TO_ARITH4(results.yzw, quantized(values.x, scales.x, zeroPoints.x));
      values = values.yzwx;
      scales = scales.yzwx;
      zeroPoints = zeroPoints.yzwx;
    }
    TO_STORE4(y, i, results);
  ONES(i, push.count)
    const uint s = scaleOf(i);
    TO_STORE(y, i, quantized(FROM_LOAD(x, i), scale[s], push.hasZeroPoint != 0u ? int(TO_LOAD(zeroPoint, s)) : 0));
  END_OF_ONES(i, push.count)
}
