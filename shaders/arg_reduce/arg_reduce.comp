// Position of the largest or smallest of `extent` elements that lie `inner` apart. One invocation per row.
// The first NaN beats everything (the last one with `last`). Positions are int64, written as two words.
// Driven by ops/arg_reduce/arg_reduce_vulkan.cpp.
//! variant STORAGE: f32 f16 i8 u8 i16 u16 i32 u32 i64 u64
#version 450
#include "common.glsl"
#include "math.glsl"
#include "storage.glsl"

layout(local_size_x = 64) in;

layout(binding = 0) readonly buffer X { STORAGE x[]; };
layout(binding = 1) writeonly buffer Y { uvec2 y[]; };

layout(push_constant) uniform Push {
  uint rows;
  uint extent;
  uint inner;
  uint smallest;
  uint last;
} push;

#if defined(STORAGE_F32) || defined(STORAGE_F16)
bool isNotANumber(float value) { return isNan(value); }
#else
bool isNotANumber(ARITH value) { return false; }
#endif

bool replaces(ARITH value, ARITH best) {
  if (isNotANumber(best)) return push.last != 0 && isNotANumber(value);
  if (isNotANumber(value)) return true;
  return (push.smallest != 0 ? value < best : value > best) || (push.last != 0 && value == best);
}

void main() {
  const uint row = linearIndex();
  const uint extent = push.extent, inner = push.inner;
  if (row >= push.rows) return;
  const uint first = row / inner * extent * inner + row % inner;
  ARITH best = LOAD(x, first);
  uint index = 0;
  for (uint i = 1; i < extent; ++i) {
    const ARITH value = LOAD(x, first + i * inner);
    if (replaces(value, best)) {
      best = value;
      index = i;
    }
  }
  y[row] = uvec2(index, 0u);
}
