// The integer functions of ops/unary/unary_table.h; FUNCTION selects one. One invocation per element.
// Driven by ops/unary/unary_vulkan.cpp.
//! variant STORAGE: i8 i16 i32 i64 u8 u16 u32 u64
#version 450
#include "common.glsl"
#include "storage.glsl"

layout(local_size_x = 64) in;
layout(constant_id = 0) const uint function = 0;

layout(binding = 0) readonly buffer X { STORAGE x[]; };
layout(binding = 1) writeonly buffer Y { STORAGE y[]; };

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

void main() {
  const uint i = linearIndex();
  if (i >= push.count) return;
  STORE(y, i, apply(LOAD(x, i)));
}
