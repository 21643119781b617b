// The integer functions of ops/unary/unary_table.h; `function` selects one.
// Driven by ops/unary/unary_vulkan.cpp.
//! variant STORAGE: i8 i16 i32 i64 u8 u16 u32 u64
//! variant WIDTH: 1 4
#version 450
#include "elementwise.glsl"

layout(constant_id = 0) const uint function = 0;

ELEMENTS_IN(0, X, x, STORAGE)
ELEMENTS_OUT(1, Y, y, STORAGE)

layout(push_constant) uniform Push {
  uint count;
} push;

#define T ARITH
#if defined(STORAGE_I8) || defined(STORAGE_I16) || defined(STORAGE_I32) || defined(STORAGE_I64)
#define UNARY_INTEGER(id, Name, value, unsignedValue) \
  if (function == uint(id)) return value;
#else
#define UNARY_INTEGER(id, Name, value, unsignedValue) \
  if (function == uint(id)) return unsignedValue;
#endif

ARITH apply(ARITH x) {
#include "ops/unary/unary_table.h"
  return x;
}

void main() { MAP_ELEMENTS(apply, y, STORAGE, x, STORAGE, push.count) }
