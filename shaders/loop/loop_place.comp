// LoopRegion's Scatter, first step: the block of the target that each item goes to. One invocation per item, which is a
// block of `block` elements of an iteration's box; items are numbered in the order of the iterations. KEEP last: `places`
// has the last item of every block, plus 1. KEEP all: it has (block, item) pairs, filled up with pairs behind all blocks.
// The views of the table are target, source and indices. Driven by engine/backend/vulkan/vulkan_scatter.cpp.
//! variant KEEP: last all
#version 450
#include "common.glsl"

layout(local_size_x = 64) in;
layout(constant_id = 0) const uint rank = 6;
layout(constant_id = 1) const uint terms = 1;

layout(binding = 0) uniform usamplerBuffer table;
layout(binding = 1) readonly buffer Indices { int indices[]; };
layout(binding = 2) buffer Places { uint places[]; };
layout(binding = 3) buffer Bad { int bad[]; };

layout(push_constant) uniform Push {
  uint items;
  uint slots;
  uint indexWords;  // 32-bit words of one index
  int offset;
  uint block;
} push;

#include "loop_offsets.glsl"
#include "loop_indices.glsl"

uint blockOf(uint item) {
  const ivec3 at = loopOffsets(item * push.block);
  return uint(push.offset + at.x + movedBy(at.z)) / push.block;
}

void main() {
  const uint item = linearIndex();
  if (item >= push.slots) return;
#ifdef KEEP_LAST
  atomicMax(places[blockOf(item)], item + 1);
#else
  places[2 * item] = item < push.items ? blockOf(item) : 0xFFFFFFFFu;
  places[2 * item + 1] = item;
#endif
}
