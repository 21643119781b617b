// Functions of math.glsl on double, which GLSL itself has in float only. Included after math.glsl.
#ifndef OPKIT_MATH_DOUBLE_GLSL
#define OPKIT_MATH_DOUBLE_GLSL
#include "double.glsl"

#define kDoubleInfinity packDouble2x32(uvec2(0u, 0x7FF00000u))
#define kDoubleNaN packDouble2x32(uvec2(0u, 0x7FF80000u))
// ln 2 in two parts: multiples of the first by whole numbers up to 2^11 are exact.
const double kDoubleLn2High = 6.93147180369123816490e-01lf;
const double kDoubleLn2Low = 1.90821492927058770002e-10lf;

/// 2^k for k in [-1022, 1023].
double doublePowerOfTwo(int k) { return packDouble2x32(uvec2(0u, uint(k + 1023) << 20)); }

/// 2 ULP.
double mathExp(double x) {
  if (isNan(x)) return x;
  if (x > 709.79lf) return kDoubleInfinity;
  if (x < -745.2lf) return 0.0lf;
  const double n = floor(x * 1.4426950408889634lf + 0.5lf);
  precise double r = x - n * kDoubleLn2High;
  r = r - n * kDoubleLn2Low;
  // (e^r - 1 - r) / r^2 for |r| <= ln 2 / 2: Taylor's series up to r^13 / 13!
  double q = 1.0lf / 6227020800.0lf;
  q = q * r + 1.0lf / 479001600.0lf;
  q = q * r + 1.0lf / 39916800.0lf;
  q = q * r + 1.0lf / 3628800.0lf;
  q = q * r + 1.0lf / 362880.0lf;
  q = q * r + 1.0lf / 40320.0lf;
  q = q * r + 1.0lf / 5040.0lf;
  q = q * r + 1.0lf / 720.0lf;
  q = q * r + 1.0lf / 120.0lf;
  q = q * r + 1.0lf / 24.0lf;
  q = q * r + 1.0lf / 6.0lf;
  q = q * r + 0.5lf;
  const int k = int(n), half_ = k / 2;
  return (1.0lf + (r + r * r * q)) * doublePowerOfTwo(half_) * doublePowerOfTwo(k - half_);
}

/// 2 ULP; negative values give NaN.
double mathLog(double x) {
  if (isNan(x)) return x;
  if (x < 0.0lf) return kDoubleNaN;
  if (isZero(x)) return -kDoubleInfinity;
  if (isInf(x)) return x;
  int exponent = 0;
  if (x < 2.2250738585072014e-308lf) {  // denormal
    x *= 18014398509481984.0lf;         // 2^54
    exponent = -54;
  }
  uvec2 words = unpackDouble2x32(x);
  // The mantissa in [sqrt(1/2), sqrt(2)); 0x6A09E is the fraction of sqrt(2).
  const uint fraction = words.y & 0xFFFFFu;
  const bool isLarge = fraction >= 0x6A09Eu;
  exponent += int(words.y >> 20) - 1023 + int(isLarge);
  words.y = fraction | (isLarge ? 0x3FE00000u : 0x3FF00000u);
  const double f = packDouble2x32(words) - 1.0lf, s = f / (2.0lf + f), z = s * s;
  // log(1 + f) = 2 atanh(s), of which f - f^2 / 2 + s f^2 / 2 is the part that rounds least.
  double q = 2.0lf / 23.0lf;
  q = q * z + 2.0lf / 21.0lf;
  q = q * z + 2.0lf / 19.0lf;
  q = q * z + 2.0lf / 17.0lf;
  q = q * z + 2.0lf / 15.0lf;
  q = q * z + 2.0lf / 13.0lf;
  q = q * z + 2.0lf / 11.0lf;
  q = q * z + 2.0lf / 9.0lf;
  q = q * z + 2.0lf / 7.0lf;
  q = q * z + 2.0lf / 5.0lf;
  q = q * z + 2.0lf / 3.0lf;
  const double halfSquare = 0.5lf * f * f, n = double(exponent);
  return n * kDoubleLn2High - ((halfSquare - (s * (halfSquare + z * q) + n * kDoubleLn2Low)) - f);
}

#endif
