// Conversions and tests of double, by bits: Vulkan promises no rounding mode, and a device may take denormals for zero.
#ifndef OPKIT_DOUBLE_GLSL
#define OPKIT_DOUBLE_GLSL

/// The bits of the nearest float, ties to even. With `odd`, of the float below whose last bit is set if anything was cut
/// off: rounding that to fewer bits rounds only once.
uint floatBitsOf(double value, bool odd) {
  const uvec2 words = unpackDouble2x32(value);
  const uint sign = words.y & 0x80000000u;
  const int exponent = int(words.y >> 20 & 0x7FFu) - 1023;
  if (exponent == 1024) return (words.y & 0xFFFFFu) == 0u && words.x == 0u ? sign | 0x7F800000u : sign | 0x7FC00000u;
  if (exponent > 127) return sign | (odd ? 0x7F7FFFFFu : 0x7F800000u);
  if (exponent < -151) return sign | uint(odd && (words.x != 0u || (words.y & 0x7FFFFFFFu) != 0u));
  const int dropped = max(-126 - exponent, 0);  // bits of the 24 that a denormal float does not hold
  const uint whole = ((words.y & 0xFFFFFu) | 0x100000u) << 3 | words.x >> 29;
  const uint rest = whole & ((1u << dropped) - 1u), tie = dropped == 0 ? 0u : 1u << (dropped - 1);
  const uint low = words.x & 0x1FFFFFFFu;
  uint kept = whole >> dropped;
  if (odd)
    kept |= uint(rest != 0u || low != 0u);
  else if (dropped == 0)
    kept += uint(low > 0x10000000u || (low == 0x10000000u && (kept & 1u) != 0u));
  else
    kept += uint(rest > tie || (rest == tie && (low != 0u || (kept & 1u) != 0u)));
  // A carry out of the fraction raises the exponent, up to infinity.
  return sign | (dropped == 0 ? (uint(exponent + 126) << 23) + kept : kept);
}

float nearestFloatOf(double value) { return uintBitsToFloat(floatBitsOf(value, false)); }
float oddFloatOf(double value) { return uintBitsToFloat(floatBitsOf(value, true)); }

double doubleOf(float value) {
  const uint bits = floatBitsToUint(value), magnitude = bits & 0x7FFFFFFFu;
  if (magnitude >= 0x00800000u || magnitude == 0u) return double(value);
  const double denormal = double(magnitude) * 1.4012984643248171e-45lf;  // 2^-149
  return bits >> 31 != 0u ? -denormal : denormal;
}

bool isZero(double value) {
  const uvec2 words = unpackDouble2x32(value);
  return words.x == 0u && (words.y & 0x7FFFFFFFu) == 0u;
}
bool isNan(double value) {
  const uvec2 words = unpackDouble2x32(value);
  const uint high = words.y & 0x7FFFFFFFu;
  return high > 0x7FF00000u || (high == 0x7FF00000u && words.x != 0u);
}
bool isInf(double value) {
  const uvec2 words = unpackDouble2x32(value);
  return (words.y & 0x7FFFFFFFu) == 0x7FF00000u && words.x == 0u;
}

/// Ties to even, in exact steps; a zero has the sign of `value`. lavapipe's roundEven gives 1 for 1.5 and +0 for -0.25.
double roundToEven(double value) {
  const double magnitude = abs(value);
  if (!(magnitude < 4503599627370496.0lf)) return value;  // 2^52: whole
  double whole = floor(magnitude);
  const double rest = magnitude - whole;
  const bool isOdd = floor(whole * 0.5lf) * 2.0lf != whole;
  if (rest > 0.5lf || (rest == 0.5lf && isOdd)) whole += 1.0lf;
  const uvec2 words = unpackDouble2x32(whole);
  return packDouble2x32(uvec2(words.x, words.y | (unpackDouble2x32(value).y & 0x80000000u)));
}

#endif
