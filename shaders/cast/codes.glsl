// Floats that are stored as codes (bf16, 8-bit floats), by their bits: a device promises neither denormals nor a rounding
// mode. `Format` is filled by ops/cast/cast_vulkan.cpp.
#ifndef OPKIT_CODES_GLSL
#define OPKIT_CODES_GLSL

const uint kInfinity = 0x7F800000u, kQuietNaN = 0x7FC00000u;  // bits of floats
const uint kUp = 0u, kDown = 1u, kNearest = 2u;               // RoundMode of cast.fbs

struct Format {
  uint fractionBits;
  uint bias;
  uint sign;     // the code of the sign; 0 marks a scale: powers of two with a float's bias
  uint largest;  // the code of the largest number
  uint special;  // the code of infinity, or of NaN in a format without infinity
  uint nan;
};

float decoded(uint code, Format format) {
  if (format.sign == 0u)
    return uintBitsToFloat(code == format.nan ? kQuietNaN : code == 0u ? 0x400000u : code << 23);
  const uint sign = (code & format.sign) != 0u ? 0x80000000u : 0u, magnitude = code & (format.sign - 1u);
  if (code == format.nan || magnitude > format.largest)
    return uintBitsToFloat(magnitude == format.special && format.special != format.nan ? sign | kInfinity : kQuietNaN);
  const uint moved = magnitude << (23u - format.fractionBits);
  if (format.bias == 127u || magnitude >> format.fractionBits != 0u)
    return uintBitsToFloat(sign | (moved + ((127u - format.bias) << 23)));
  const float unit = uintBitsToFloat((128u - format.bias - format.fractionBits) << 23);
  const float value = float(magnitude) * unit;
  return uintBitsToFloat(sign | floatBitsToUint(value));
}

/// `bits` without its last `dropped` bits, to nearest even. REQUIRES dropped in [1, 31].
uint roundedShift(uint bits, uint dropped) {
  return (bits + (1u << (dropped - 1u)) - 1u + ((bits >> dropped) & 1u)) >> dropped;
}

uint encodedScale(uint bits, uint nan, bool saturate, uint roundMode) {
  const uint magnitude = bits & 0x7FFFFFFFu, largest = 0xFEu, least = 0x400000u;
  if (magnitude > kInfinity || (bits != magnitude && magnitude != 0u)) return nan;
  if (magnitude > largest << 23) return saturate ? largest : nan;
  if (magnitude < least) return saturate ? 0u : nan;
  // A denormal has its first bit where the fraction of others begins.
  const uint rest = magnitude < 0x800000u ? (magnitude - least) << 1 : magnitude & 0x7FFFFFu;
  const bool isUp = roundMode == kUp ? rest != 0u : roundMode == kNearest && rest >= 0x400000u;
  return (magnitude >> 23) + (isUp ? 1u : 0u);
}

uint encoded(float value, Format format, bool saturate, uint roundMode) {
  const uint bits = floatBitsToUint(value), magnitude = bits & 0x7FFFFFFFu;
  if (format.sign == 0u) return encodedScale(bits, format.nan, saturate, roundMode);
  const uint sign = (bits >> 31) != 0u ? format.sign : 0u, shift = 23u - format.fractionBits;
  if (magnitude > kInfinity) return format.nan | sign;
  const uint exponent = magnitude >> 23, leastNormal = 128u - format.bias;
  uint code = 0u;
  if (format.bias == 127u || exponent >= leastNormal) {
    code = roundedShift(magnitude, shift) - ((127u - format.bias) << format.fractionBits);
  } else if (shift + leastNormal - exponent <= 25u) {
    code = roundedShift((magnitude & 0x7FFFFFu) | 0x800000u, shift + leastNormal - exponent);
  }
  if (code > format.largest) code = saturate ? format.largest : format.special;
  return code == 0u && format.nan == format.sign ? 0u : code | sign;
}

#endif
