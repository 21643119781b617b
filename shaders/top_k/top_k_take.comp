// TopK: writes the elements of x, [rows / inner, extent, inner], at the first k positions of each row, and the positions
// as int64, two words. One invocation per result. Driven by ops/top_k/top_k_vulkan.cpp.
//! variant WORD: u8 u16 u32 u32x2
#version 450
#include "common.glsl"
#include "storage.glsl"

layout(local_size_x = 64) in;

layout(binding = 0) readonly buffer X { WORD_TYPE x[]; };
layout(binding = 1) readonly buffer Places { uint places[]; };  // [rows, perRow]
layout(binding = 2) writeonly buffer Values { WORD_TYPE values[]; };
layout(binding = 3) writeonly buffer Positions { uvec2 positions[]; };

layout(push_constant) uniform Push {
  uint count;
  uint extent;
  uint inner;
  uint k;
  uint perRow;
} push;

void main() {
  const uint i = linearIndex();
  if (i >= push.count) return;
  const uint outer = i / (push.k * push.inner), j = i / push.inner % push.k, column = i % push.inner;
  const uint place = places[(outer * push.inner + column) * push.perRow + j];
  WORD_STORE(values, i, WORD_LOAD(x, (outer * push.extent + place) * push.inner + column));
  positions[i] = uvec2(place, 0u);
}
