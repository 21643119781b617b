// Unique: the slices of x, [outer, extent, inner], at the positions `indices`; behind the last of them zeros. One invocation per
// element. Driven by ops/unique/unique_vulkan.cpp.
//! variant WORD: u8 u16 u32 u32x2
#version 450
#include "common.glsl"
#include "storage.glsl"

layout(local_size_x = 64) in;

layout(binding = 0) readonly buffer X { WORD_TYPE x[]; };
layout(binding = 1) readonly buffer Indices { uvec2 indices[]; };
layout(binding = 2) readonly buffer Count { uvec2 count[]; };
layout(binding = 3) writeonly buffer Y { WORD_TYPE y[]; };

layout(push_constant) uniform Push {
  uint elements;
  uint extent;
  uint inner;
} push;

void main() {
  const uint i = linearIndex();
  if (i >= push.elements) return;
  const uint column = i % push.inner, slice = i / push.inner % push.extent, outer = i / (push.inner * push.extent);
  if (slice < count[0].x) {
    WORD_STORE(y, i, WORD_LOAD(x, (outer * push.extent + indices[slice].x) * push.inner + column));
  } else {
    WORD_STORE(y, i, WORD_ARITH(0));
  }
}
