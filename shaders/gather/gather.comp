// Slices of `inner` words of the data, chosen by indices. One invocation per word of the output. 64-bit indices are
// read as two words, of which the lower one counts: extents fit in 32 bits. A negative index counts from the end;
// one out of range is clamped, because a kernel cannot report it. Driven by ops/gather/gather_vulkan.cpp.
//! variant WORD: u8 u16 u32 u32x2 u32x4
#version 450
#include "common.glsl"
#include "storage.glsl"

layout(local_size_x = 64) in;

layout(binding = 0) readonly buffer X { WORD_TYPE x[]; };
layout(binding = 1) readonly buffer Indices { int indices[]; };
layout(binding = 2) writeonly buffer Y { WORD_TYPE y[]; };

layout(push_constant) uniform Push {
  uint count;  // words of the output
  uint indexCount;
  uint indexWords;  // 32-bit words of one index
  uint extent;
  uint inner;  // words of one slice
} push;

void main() {
  const uint i = linearIndex();
  if (i >= push.count) return;
  const uint inner = push.inner, extent = push.extent;
  const uint which = i / inner % push.indexCount, outer = i / inner / push.indexCount;
  int index = indices[which * push.indexWords];
  if (index < 0) index += int(extent);
  const uint slice = outer * extent + uint(clamp(index, 0, int(extent) - 1));
  WORD_STORE(y, i, WORD_LOAD(x, slice * inner + i % inner));
}
