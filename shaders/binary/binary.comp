// One arithmetic function of ops/binary/binary_table.h on pairs of elements that broadcast; `function` selects it.
// One invocation per output element. Driven by ops/binary/binary_vulkan.cpp.
//! variant STORAGE: f32 f16 i8 u8 i16 u16 i32 u32 i64 u64
#version 450
#include "common.glsl"
#include "math.glsl"
#include "storage.glsl"

layout(local_size_x = 64) in;
layout(constant_id = 0) const uint function = 0;
layout(constant_id = 1) const uint loops = 1;

layout(binding = 0) readonly buffer X { STORAGE x[]; };
layout(binding = 1) readonly buffer Y { STORAGE y[]; };
layout(binding = 2) writeonly buffer Z { STORAGE z[]; };

layout(push_constant) uniform Push {
  uint count;
  uint sizes[6];  // outermost first; the first `loops` count
  uint xStrides[6];
  uint yStrides[6];
  float low;  // of the clamp, on floats
  float high;
} push;

#include "binary_loops.glsl"

#if defined(STORAGE_F32) || defined(STORAGE_F16)
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

void main() {
  const uint i = linearIndex();
  if (i >= push.count) return;
  const uvec2 at = operandOffsets(i);
  ARITH value = apply(LOAD(x, at.x), LOAD(y, at.y));
#if defined(STORAGE_F32) || defined(STORAGE_F16)
  value = value < push.low ? push.low : value > push.high ? push.high : value;  // a NaN stays
#endif
  STORE(z, i, value);
}
