// QLinearAdd and QLinearMul on bytes that broadcast; `function` selects one. A sum is made of whole numbers: the ratios
// of the scales in units of 2^-shift, the larger one with 21 bits. Driven by
// ops/quantized_binary/quantized_binary_vulkan.cpp.
//! variant STORAGE: u8
//! variant WIDTH: 1 4
#version 450
#include "broadcast.glsl"
#include "requantize.glsl"

layout(constant_id = 2) const uint function = 0;  // 0: sum, 1: product

ELEMENTS_IN(0, X, x, STORAGE)
layout(binding = 1) readonly buffer XScale { float xScale[]; };
layout(binding = 2) readonly buffer XZeroPoint { uint8_t xZeroPoint[]; };
ELEMENTS_IN(3, Y, y, STORAGE)
layout(binding = 4) readonly buffer YScale { float yScale[]; };
layout(binding = 5) readonly buffer YZeroPoint { uint8_t yZeroPoint[]; };
layout(binding = 6) readonly buffer ZScale { float zScale[]; };
layout(binding = 7) readonly buffer ZZeroPoint { uint8_t zZeroPoint[]; };
ELEMENTS_OUT(8, Z, z, STORAGE)

layout(push_constant) uniform Push {
  BROADCAST_PUSH
  uint xStrides[6];
  uint yStrides[6];
  uint xFlip;  // 128 if signed
  uint yFlip;
  uint zFlip;
} push;

DEFINE_PLACE_OF

struct Units {
  int x;
  int y;
  int shift;
};

/// The bits of a ratio of scales; 0 unless it is finite.
uint ratioBits(float scale, float resultScale) {
  const uint bits = quotientBits(floatBitsToUint(scale), floatBitsToUint(resultScale));
  return (bits & 0x7FFFFFFFu) < kInfinityBits ? bits : 0u;
}

/// The ratio in units of 2^-(20 - top), to nearest even. REQUIRES a magnitude below 2^(top + 1).
int inUnits(uint bits, int top) {
  const uint magnitude = bits & 0x7FFFFFFFu;
  if (magnitude == 0u) return 0;
  const Normal normal = normalOf(magnitude);
  const int dropped = top - 20 - normal.exponent;  // 3 for the larger ratio
  if (dropped > 24) return 0;
  const uint kept = normal.mantissa >> dropped, rest = normal.mantissa & ((1u << dropped) - 1u);
  const uint tie = 1u << (dropped - 1);
  const int whole = int(kept + (rest > tie || (rest == tie && (kept & 1u) != 0u) ? 1u : 0u));
  return bits == magnitude ? whole : -whole;
}

/// `scales` are those of x, y and z.
Units unitsOf(vec3 scales) {
  const uint a = ratioBits(scales.x, scales.z), b = ratioBits(scales.y, scales.z);
  const uint larger = max(a & 0x7FFFFFFFu, b & 0x7FFFFFFFu);
  if (larger == 0u) return Units(0, 0, 0);
  const int top = normalOf(larger).exponent + 23, shift = 20 - top;
  if (shift > 30) return Units(0, 0, 0);  // no sum of two products with a byte reaches a half
  return Units(inUnits(a, top), inUnits(b, top), shift);
}

int sumOf(int a, int b, Units units) {
  const int sum = a * units.x + b * units.y;
  if (units.shift <= 0) return clamp(sum, -1024, 1024) << min(-units.shift, 20);  // all but 0 may be far away
  const int isOdd = (sum >> units.shift) & 1;
  return (sum + (1 << (units.shift - 1)) - 1 + isOdd) >> units.shift;  // the sum has 30 bits
}

uint valueOf(uint a, uint b, Units units, vec3 scales, int xZero, int yZero, uint zPoint) {
  const int left = BYTE(a, push.xFlip) - xZero, right = BYTE(b, push.yFlip) - yZero;
  if (function == 1u) return requantized(left * right, scales.x, scales.y, scales.z, zPoint, push.zFlip);
  return uint(clamp(sumOf(left, right, units) + BYTE(zPoint, push.zFlip), 0, 255)) ^ push.zFlip;
}

void main() {
  const Place place = placeOf(linearIndex());
  // Loaded once: a driver cannot move a load in front of a store.
  const vec3 scales = vec3(xScale[0], yScale[0], zScale[0]);
  Units units = Units(0, 0, 0);
  if (function == 0u) units = unitsOf(scales);
  const int xZero = BYTE(xZeroPoint[0], push.xFlip), yZero = BYTE(yZeroPoint[0], push.yFlip);
  const uint zPoint = uint(zZeroPoint[0]);
  FOURS_FROM(place.element, i, push.count)
    uint xAt = OFFSET_OF(place, x), yAt = OFFSET_OF(place, y);
    STORAGE_ARITH4 a = STORAGE_ARITH4(0), b = a, values = a;
    for (uint row = 0; row < place.rows; ++row) {
      TAKE_FOUR(a, STORAGE, x, xAt, row)
      TAKE_FOUR(b, STORAGE, y, yAt, row)
      EACH_OF_FOUR {
        values = STORAGE_ARITH4(values.yzw, valueOf(uint(a.x), uint(b.x), units, scales, xZero, yZero, zPoint));
        a = a.yzwx;
        b = b.yzwx;
      }
      STORAGE_STORE4(z, i + row * rowDistance(), values);
    }
  ONES(i, push.count)
    STORAGE_STORE(z, i, STORAGE_ARITH(valueOf(uint(STORAGE_LOAD(x, ELEMENT_OF(place, x, i))), uint(STORAGE_LOAD(y, ELEMENT_OF(place, y, i))),
                                    units, scales, xZero, yZero, zPoint)));
  END_OF_ONES(i, push.count)
}
