// Products of many floats that overflow or underflow only if the whole product does: a factor (x, y) stands for x * 2^y, where
// |x| is in [1, 2), zero, infinite or NaN, and y is whole. Included after math.glsl.
#ifndef OPKIT_FACTORS_GLSL
#define OPKIT_FACTORS_GLSL

/// By bits, since a device may flush denormals.
vec2 factorOf(float value) {
  const uint bits = floatBitsToUint(value), magnitude = bits & 0x7FFFFFFFu;
  if (magnitude == 0u || magnitude >= 0x7F800000u) return vec2(value, 0.0);
  const int shift = magnitude < 0x800000u ? 23 - findMSB(magnitude) : 0;
  const uint normal = magnitude << shift;
  const int exponent = shift > 0 ? -126 - shift : int(magnitude >> 23) - 127;
  return vec2(uintBitsToFloat((bits & 0x80000000u) | 0x3F800000u | (normal & 0x7FFFFFu)), float(exponent));
}
vec2 times(vec2 a, vec2 b) {
  precise float product = a.x * b.x;
  const bool isLarge = abs(product) >= 2.0;
  return vec2(isLarge ? product * 0.5 : product, a.y + b.y + (isLarge ? 1.0 : 0.0));
}
float valueOfFactor(vec2 factor) { return scale(factor.x, int(clamp(factor.y, -240.0, 240.0))); }

#endif
