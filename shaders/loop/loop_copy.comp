// LoopRegion's Copy: moves words over an iteration space, from positions given by indices in a buffer. One invocation
// per word. The views of the table are target, source and indices; after its dimensions it has one texel per index
// term: (offset, extent, stride). 64-bit indices are read as two words. A negative index counts from the end; an index
// out of range is clamped, so that no read leaves the buffer, and reported: `bad` keeps, per term, the largest that is
// too large and the smallest that is too small. Driven by engine/backend/vulkan/vulkan_loop.cpp.
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

int indexAt(uint k) {
  const int low = indices[k * push.indexWords];
  if (push.indexWords == 1) return low;
  const int high = indices[k * push.indexWords + 1];
  return high == low >> 31 ? low : high < 0 ? int(0x80000000) : 0x7FFFFFFF;
}

void main() {
  const uint item = linearIndex();
  if (item >= push.count) return;
  const ivec3 at = loopOffsets(item);
  int from = push.sourceOffset + at.y;
  [[unroll]] for (uint t = 0; t < 6; ++t) {
    if (t >= terms) break;
    const ivec4 term = ivec4(texelFetch(table, int(rank + t)));
    const int given = indexAt(uint(at.z + term.x));
    if (given >= term.y) atomicMax(bad[2 * t], given);
    if (given < -term.y) atomicMin(bad[2 * t + 1], given);
    const int value = given < 0 ? given + term.y : given;
    from += clamp(value, 0, term.y - 1) * term.z;
  }
  WORD_STORE(y, push.offset + at.x, WORD_LOAD(x, from));
}
