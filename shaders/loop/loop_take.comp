// LoopRegion's Scatter that replaces: every element of the target from the item that owns it, or from the base. One
// invocation per element. The views of the table are target, source and indices. Driven by
// engine/backend/vulkan/vulkan_scatter.cpp.
//! variant WORD: u8 u16 u32 u32x2
#version 450
#include "common.glsl"
#include "storage.glsl"

layout(local_size_x = 64) in;
layout(constant_id = 0) const uint rank = 6;

layout(binding = 0) uniform usamplerBuffer table;
layout(binding = 1) readonly buffer Base { WORD_TYPE base[]; };
layout(binding = 2) readonly buffer X { WORD_TYPE x[]; };
layout(binding = 3) readonly buffer Owners { uint owners[]; };  // the item of every block, plus 1
layout(binding = 4) writeonly buffer Y { WORD_TYPE y[]; };

layout(push_constant) uniform Push {
  uint count;
  int sourceOffset;
  uint block;  // elements of an item
} push;

#include "loop_offsets.glsl"

void main() {
  const uint i = linearIndex();
  if (i >= push.count) return;
  const uint owner = owners[i / push.block];
  if (owner == 0)
    WORD_STORE(y, i, WORD_LOAD(base, i));
  else
    WORD_STORE(y, i, WORD_LOAD(x, push.sourceOffset + loopOffsets((owner - 1) * push.block + i % push.block).y));
}
