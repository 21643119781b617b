// z = condition ? x : y on operands that broadcast. Moves words of the elements' size. One invocation per output
// element. Driven by ops/where/where_vulkan.cpp.
//! variant WORD: u8 u16 u32 u32x2
#version 450
#include "common.glsl"
#include "storage.glsl"

layout(local_size_x = 64) in;
layout(constant_id = 0) const uint loops = 1;

layout(binding = 0) readonly buffer Condition { TYPE_BOOL condition[]; };
layout(binding = 1) readonly buffer X { WORD_TYPE x[]; };
layout(binding = 2) readonly buffer Y { WORD_TYPE y[]; };
layout(binding = 3) writeonly buffer Z { WORD_TYPE z[]; };

layout(push_constant) uniform Push {
  uint count;
  uint sizes[6];  // outermost first; the first `loops` count
  uint conditionStrides[6];
  uint xStrides[6];
  uint yStrides[6];
} push;

void main() {
  uint rest = linearIndex();
  if (rest >= push.count) return;
  const uint i = rest;
  uvec3 at = uvec3(0);
  [[unroll]] for (uint k = 0; k < 6; ++k) {
    if (k >= loops) break;
    const uint d = loops - 1 - k;
    uint index = rest;
    if (d > 0) {
      index = rest % push.sizes[d];
      rest /= push.sizes[d];
    }
    at += index * uvec3(push.conditionStrides[d], push.xStrides[d], push.yStrides[d]);
  }
  if (LOAD_BOOL(condition, at.x)) {
    WORD_STORE(z, i, WORD_LOAD(x, at.y));
  } else {
    WORD_STORE(z, i, WORD_LOAD(y, at.z));
  }
}
