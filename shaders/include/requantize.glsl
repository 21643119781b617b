// Requantisation of sums of products of 8-bit integers, exact by integers (rounded.glsl); and bytes of either sign.
#ifndef OPKIT_REQUANTIZE_GLSL
#define OPKIT_REQUANTIZE_GLSL
#include "rounded.glsl"

/// A byte as a number: `flip` is 0 for unsigned ones, 128 for signed ones, which then are 128 too large, as their zero
/// points are.
#define BYTE(byte, flip) int(uint(byte) ^ (flip))

/// round(sum * (scale * otherScale / yScale)) + zeroPoint within the limits of a byte, as its bits: each product and
/// quotient is rounded to a float, then to nearest even. `zeroPoint` holds the bits of the zero point.
uint requantized(int sum, float scale, float otherScale, float yScale, uint zeroPoint, uint flip) {
  const uint both = productBits(floatBitsToUint(scale), floatBitsToUint(otherScale));
  const uint value = productBits(floatBitsOf(sum), quotientBits(both, floatBitsToUint(yScale)));
  return uint(wholeWithin(value, BYTE(zeroPoint, flip), 0, 255)) ^ flip;
}

#endif
