// The comparisons and logic functions of ops/binary/binary_table.h on pairs that broadcast; `function` selects one.
// The result is bool. One invocation per output element. Driven by ops/binary/binary_vulkan.cpp.
//! variant STORAGE: f32 f16 i8 u8 i16 u16 i32 u32 i64 u64 bool
#version 450
#include "common.glsl"
#include "storage.glsl"

layout(local_size_x = 64) in;
layout(constant_id = 0) const uint function = 0;
layout(constant_id = 1) const uint loops = 1;

layout(binding = 0) readonly buffer X { STORAGE x[]; };
layout(binding = 1) readonly buffer Y { STORAGE y[]; };
layout(binding = 2) writeonly buffer Z { TYPE_BOOL z[]; };

layout(push_constant) uniform Push {
  uint count;
  uint sizes[6];  // outermost first; the first `loops` count
  uint xStrides[6];
  uint yStrides[6];
} push;

#include "binary_loops.glsl"

#ifdef STORAGE_BOOL
#define VALUE uint
#else
#define VALUE ARITH
#endif
#define COMPARE(id, Name, types, value) \
  if (function == uint(id)) return value;
#define LOGIC(id, Name, value) \
  if (function == uint(id)) return value;

bool apply(VALUE x, VALUE y) {
#include "ops/binary/binary_table.h"
  return false;
}

void main() {
  const uint i = linearIndex();
  if (i >= push.count) return;
  const uvec2 at = operandOffsets(i);
  STORE_BOOL(z, i, apply(VALUE(LOAD(x, at.x)), VALUE(LOAD(y, at.y))));
}
