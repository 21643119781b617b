// One arithmetic function of ops/binary/binary_table.h on pairs of elements that broadcast; `function` selects it.
// Driven by ops/binary/binary_vulkan.cpp.
//! variant STORAGE: f32 f16 f64 i8 u8 i16 u16 i32 u32 i64 u64
//! variant WIDTH: 1 4
#version 450
#include "broadcast.glsl"
#include "math.glsl"
#ifdef STORAGE_F64
#include "math_double.glsl"
// Refused by ops/binary/binary_vulkan.cpp.
#define mathPow(x, y) x
#define mathFmod(x, y) x
#endif

layout(constant_id = 2) const uint function = 0;

ELEMENTS_IN(0, X, x, STORAGE)
ELEMENTS_IN(1, Y, y, STORAGE)
ELEMENTS_OUT(2, Z, z, STORAGE)

layout(push_constant) uniform Push {
  BROADCAST_PUSH
  uint xStrides[6];
  uint yStrides[6];
  float low;  // of the clamp, on floats
  float high;
} push;

DEFINE_PLACE_OF

#if defined(STORAGE_F32) || defined(STORAGE_F16) || defined(STORAGE_F64)
#define BINARY(id, Name, numericClass, types, low, high, cpu, cpuInteger, glsl, glslInteger) \
  if (function == uint(id)) return glsl;
#else
#define BINARY(id, Name, numericClass, types, low, high, cpu, cpuInteger, glsl, glslInteger) \
  if (function == uint(id)) return glslInteger;

#if defined(STORAGE_I8) || defined(STORAGE_I16) || defined(STORAGE_I32) || defined(STORAGE_I64)
#define SIGNED 1
#else
#define SIGNED 0
#endif
#if defined(STORAGE_I64) || defined(STORAGE_U64)
#define BITS 64
#else
#define BITS 32
#endif

/// Truncates towards zero; division by zero gives 0; the quotient that overflows wraps.
ARITH divide(ARITH a, ARITH b) {
  if (b == ARITH(0)) return ARITH(0);
#if SIGNED
  if (b == ARITH(-1)) return -a;
#endif
  return a / b;
}
/// Sign of a; by zero is 0.
ARITH remainder(ARITH a, ARITH b) { return b == ARITH(0) ? ARITH(0) : a - divide(a, b) * b; }
/// Sign of b; by zero is 0.
ARITH floorModulo(ARITH a, ARITH b) {
  const ARITH rest = remainder(a, b);
#if SIGNED
  if (rest != ARITH(0) && (rest < ARITH(0)) != (b < ARITH(0))) return rest + b;
#endif
  return rest;
}
ARITH integerPower(ARITH base, ARITH exponent) {
#if SIGNED
  if (exponent < ARITH(0))
    return base == ARITH(1) ? base : base == ARITH(-1) ? ((exponent & ARITH(1)) != ARITH(0) ? base : ARITH(1)) : ARITH(0);
#endif
  ARITH result = ARITH(1);
  while (exponent > ARITH(0)) {
    if ((exponent & ARITH(1)) != ARITH(0)) result *= base;
    exponent >>= 1;
    base *= base;
  }
  return result;
}
ARITH shiftLeft(ARITH a, ARITH b) { return b < ARITH(BITS) ? a << uint(b) : ARITH(0); }
ARITH shiftRight(ARITH a, ARITH b) { return b < ARITH(BITS) ? a >> uint(b) : ARITH(0); }
#endif

ARITH apply(ARITH x, ARITH y) {
#include "ops/binary/binary_table.h"
  return x;
}

ARITH valueOf(ARITH a, ARITH b) {
  const ARITH value = apply(a, b);
#if defined(STORAGE_F32) || defined(STORAGE_F16) || defined(STORAGE_F64)
  return value < ARITH(push.low) ? ARITH(push.low) : value > ARITH(push.high) ? ARITH(push.high) : value;  // a NaN stays
#else
  return value;
#endif
}

void main() {
  const Place place = placeOf(linearIndex());
  FOURS_FROM(place.element, i, push.count)
    uint xAt = OFFSET_OF(place, x), yAt = OFFSET_OF(place, y);
    STORAGE_ARITH4 a = STORAGE_ARITH4(0), b = a;
    STORAGE_ARITH4 values = STORAGE_ARITH4(0);
    for (uint row = 0; row < place.rows; ++row) {
      TAKE_FOUR(a, STORAGE, x, xAt, row)
      TAKE_FOUR(b, STORAGE, y, yAt, row)
      EACH_OF_FOUR {
        values = STORAGE_ARITH4(values.yzw, valueOf(a.x, b.x));
        a = a.yzwx;
        b = b.yzwx;
      }
      STORAGE_STORE4(z, i + row * rowDistance(), values);
    }
  ONES(i, push.count)
    STORAGE_STORE(z, i, valueOf(LOAD(x, ELEMENT_OF(place, x, i)), LOAD(y, ELEMENT_OF(place, y, i))));
  END_OF_ONES(i, push.count)
}
