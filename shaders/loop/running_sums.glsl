// Running sums and products of LoopRegion's RunningSum. Included after storage.glsl and rows.glsl by the shaders, which
// declare the constant isProduct. Sums of floats carry their rounding error along (Kahan). Products of floats carry a power
// of two along, so that no part of a row overflows or underflows before it meets the parts before it.
#include "factors.glsl"

/// A sum is `sum` minus `rest`; a product of floats is the factor (sum, rest).
struct Sum {
  ARITH sum;
  ARITH rest;
};
#define kNoTerm (isProduct ? ARITH(1) : ARITH(0))  // no constants: a conversion of isProduct would be none
#define kNothing Sum(kNoTerm, ARITH(0))

#ifdef STORAGE_F64
#include "math_double.glsl"
/// A factor as factorOf makes of a float.
Sum termOf(double term) {
  if (!isProduct) return Sum(term, 0.0lf);
  if (isZero(term) || isInf(term) || isNan(term)) return Sum(term, 0.0lf);
  int exponent = 0;
  if (abs(term) < 2.2250738585072014e-308lf) {  // denormal
    term *= 18014398509481984.0lf;              // 2^54
    exponent = -54;
  }
  uvec2 words = unpackDouble2x32(term);
  exponent += int(words.y >> 20 & 0x7FFu) - 1023;
  words.y = (words.y & 0x800FFFFFu) | 0x3FF00000u;
  return Sum(packDouble2x32(words), double(exponent));
}
Sum times(Sum a, Sum b) {
  precise double product = a.sum * b.sum;
  const bool isLarge = abs(product) >= 2.0lf;
  return Sum(isLarge ? product * 0.5lf : product, a.rest + b.rest + (isLarge ? 1.0lf : 0.0lf));
}
double valueOf(Sum fold) {
  if (!isProduct) return fold.sum - fold.rest;
  const int k = int(clamp(fold.rest, -2000.0lf, 2000.0lf)), half_ = k / 2;
  return fold.sum * doublePowerOfTwo(half_) * doublePowerOfTwo(k - half_);
}
#elif defined(STORAGE_F32) || defined(STORAGE_F16)
Sum termOf(float term) {
  const vec2 factor = factorOf(term);
  return isProduct ? Sum(factor.x, factor.y) : Sum(term, 0.0);
}
Sum times(Sum a, Sum b) {
  const vec2 product = times(vec2(a.sum, a.rest), vec2(b.sum, b.rest));
  return Sum(product.x, product.y);
}
float valueOf(Sum fold) { return isProduct ? valueOfFactor(vec2(fold.sum, fold.rest)) : fold.sum - fold.rest; }
#else
Sum termOf(ARITH term) { return Sum(term, ARITH(0)); }
Sum times(Sum a, Sum b) { return Sum(a.sum * b.sum, ARITH(0)); }
ARITH valueOf(Sum fold) { return fold.sum; }
#endif

Sum plus(Sum a, Sum b) {
  if (isProduct) return times(a, b);
  precise ARITH sum = a.sum + b.sum;
  ARITH lost = a.rest + b.rest;
#if defined(STORAGE_F32) || defined(STORAGE_F16) || defined(STORAGE_F64)
  precise ARITH partOfB = sum - a.sum;
  precise ARITH error = (a.sum - (sum - partOfB)) + (b.sum - partOfB);
  if (!isNan(error) && !isInf(error)) lost -= error;  // an infinite sum has no error
#endif
  return Sum(sum, lost);
}
Sum plusTerm(Sum a, ARITH term) { return plus(a, termOf(term)); }

TEAM_SCAN(teamBefore, Sum, plus, kNothing)
