// Products, quotients and whole numbers of floats, rounded to nearest even, by integers on their bits: a device promises
// neither denormals, nor a rounding mode, nor an exact division. ops/quantize/rounded_test.cpp compiles this file as C++
// and compares it with the host.
#ifndef OPKIT_ROUNDED_GLSL
#define OPKIT_ROUNDED_GLSL

const uint kInfinityBits = 0x7F800000u, kNaNBits = 0x7FC00000u;

// mantissa * 2^exponent, mantissa in [2^23, 2^24)
struct Normal {
  uint mantissa;
  int exponent;
};

/// REQUIRES the bits of a finite number above zero.
Normal normalOf(uint magnitude) {
  if (magnitude >= 0x800000u) return Normal((magnitude & 0x7FFFFFu) | 0x800000u, int(magnitude >> 23) - 150);
  const int shift = 23 - findMSB(magnitude);
  return Normal(magnitude << shift, -149 - shift);
}

/// The bits of (mantissa + a bit less than 1 if `more`) * 2^exponent. REQUIRES a mantissa in [2^24, 2^27).
uint roundedBits(uint mantissa, bool more, int exponent) {
  const int top = findMSB(mantissa), power = top + exponent;  // the value is in [2^power, 2^(power + 1))
  if (power > 127) return kInfinityBits;
  const int dropped = top - 23 + max(-126 - power, 0);
  if (dropped > 28) return 0u;  // less than half of the least denormal
  const uint kept = mantissa >> dropped, rest = mantissa & ((1u << dropped) - 1u), tie = 1u << (dropped - 1);
  const uint rounded = kept + (rest > tie || (rest == tie && (more || (kept & 1u) != 0u)) ? 1u : 0u);
  return power < -126 ? rounded : rounded + (uint(power + 126) << 23);  // a carry moves into the exponent
}

/// a * b
uint productBits(uint a, uint b) {
  const uint sign = (a ^ b) & 0x80000000u, m = a & 0x7FFFFFFFu, n = b & 0x7FFFFFFFu;
  if (m > kInfinityBits || n > kInfinityBits) return kNaNBits;
  if (m == 0u || n == 0u) return max(m, n) == kInfinityBits ? kNaNBits : sign;
  if (max(m, n) == kInfinityBits) return sign | kInfinityBits;
  const Normal left = normalOf(m), right = normalOf(n);
  uint high, low;
  umulExtended(left.mantissa, right.mantissa, high, low);  // 47 or 48 bits
  return sign | roundedBits((high << 10) | (low >> 22), (low & 0x3FFFFFu) != 0u, left.exponent + right.exponent + 22);
}

/// a / b
uint quotientBits(uint a, uint b) {
  const uint sign = (a ^ b) & 0x80000000u, m = a & 0x7FFFFFFFu, n = b & 0x7FFFFFFFu;
  if (m > kInfinityBits || n > kInfinityBits) return kNaNBits;
  if (m == kInfinityBits || n == 0u) return m == 0u || n == kInfinityBits ? kNaNBits : sign | kInfinityBits;
  if (m == 0u || n == kInfinityBits) return sign;
  const Normal left = normalOf(m), right = normalOf(n);
  // A quotient of floats, off by a few units at most, and then what it leaves of left * 2^25: exact modulo 2^32.
  const uint divisor = right.mantissa;
  uint quotient = uint(float(left.mantissa) / float(divisor) * 33554432.0);
  int rest = int((left.mantissa << 25) - quotient * divisor);
  const int units = int(floor(float(rest) / float(divisor)));
  quotient += uint(units);
  rest -= units * int(divisor);
  if (rest < 0) {
    --quotient;
    rest += int(divisor);
  } else if (rest >= int(divisor)) {
    ++quotient;
    rest -= int(divisor);
  }
  return sign | roundedBits(quotient, rest != 0, left.exponent - right.exponent - 25);
}

/// The float nearest to a whole number.
uint floatBitsOf(int value) {
  const uint sign = value < 0 ? 0x80000000u : 0u, magnitude = value < 0 ? 0u - uint(value) : uint(value);
  if (magnitude == 0u) return 0u;
  const int shift = findMSB(magnitude) - 25;
  if (shift <= 0) return sign | roundedBits(magnitude << -shift, false, shift);
  return sign | roundedBits(magnitude >> shift, (magnitude & ((1u << shift) - 1u)) != 0u, shift);
}

/// The whole number nearest to a float, plus `offset`, within [least, greatest]; NaN gives the least.
/// REQUIRES limits and an offset of at most 2^17.
int wholeWithin(uint bits, int offset, int least, int greatest) {
  const uint magnitude = bits & 0x7FFFFFFFu;
  if (magnitude > kInfinityBits) return least;
  const bool negative = bits != magnitude;
  if (magnitude >= 0x49800000u) return negative ? least : greatest;  // 2^20
  int whole = 0;
  if (magnitude >= 0x3F000000u) {  // 1/2
    const uint mantissa = (magnitude & 0x7FFFFFu) | 0x800000u, dropped = 150u - (magnitude >> 23);
    whole = int((mantissa + (1u << (dropped - 1u)) - 1u + ((mantissa >> dropped) & 1u)) >> dropped);
  }
  return clamp((negative ? -whole : whole) + offset, least, greatest);
}

/// A float rounded to the numbers of bf16; NaN stays one.
uint brainBits(uint bits) {
  if ((bits & 0x7FFFFFFFu) > kInfinityBits) return kNaNBits;
  return (bits + 0x7FFFu + ((bits >> 16) & 1u)) & 0xFFFF0000u;
}

#endif
