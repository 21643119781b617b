// LoopRegion's Copy: moves words over an iteration space, from positions given by indices in a buffer. One invocation
// per word. The views of the table are target, source and indices. Driven by engine/backend/vulkan/vulkan_loop.cpp.
//! variant WORD: u8 u16 u32 u32x2 u32x4
#version 450
#include "common.glsl"
#include "storage.glsl"

layout(local_size_x = 64) in;
layout(constant_id = 0) const uint rank = 6;
layout(constant_id = 1) const uint terms = 1;

layout(binding = 0) uniform usamplerBuffer table;
layout(binding = 1) readonly buffer X { WORD_TYPE x[]; };
layout(binding = 2) readonly buffer Indices { int indices[]; };
layout(binding = 3) writeonly buffer Y { WORD_TYPE y[]; };
layout(binding = 4) buffer Bad { int bad[]; };

layout(push_constant) uniform Push {
  uint count;  // words
  uint indexWords;  // 32-bit words of one index
  int sourceOffset;
  int offset;
} push;

#include "loop_offsets.glsl"
#include "loop_indices.glsl"

void main() {
  const uint item = linearIndex();
  if (item >= push.count) return;
  const ivec3 at = loopOffsets(item);
  const int from = push.sourceOffset + at.y + movedBy(at.z);
  WORD_STORE(y, push.offset + at.x, WORD_LOAD(x, from));
}
