// Many regions of one output in one dispatch: like raster.comp, for interleaved boxes. One invocation per word. The
// table has six uvec4s per region: (first item, source, sourceOffset, offset), six sizes, six source strides, six
// strides, two unused; an invocation finds its region by bisection over the first items. Driven by
// engine/backend/vulkan/raster_batch.cpp.
//! variant WORD: u8 u16 u32 u32x2 u32x4
#version 450
#include "common.glsl"
#include "storage.glsl"

layout(local_size_x = 256) in;

layout(binding = 0) uniform usamplerBuffer table;
layout(binding = 1) readonly buffer X { WORD_TYPE x[]; };
layout(binding = 2) readonly buffer Z { WORD_TYPE z[]; };
layout(binding = 3) writeonly buffer Y { WORD_TYPE y[]; };

layout(push_constant) uniform Push {
  uint count;  // words in all boxes
  uint regions;
} push;

void main() {
  const uint item = linearIndex();
  if (item >= push.count) return;
  int low = 0, high = int(push.regions) - 1;
  while (low < high) {
    const int middle = (low + high + 1) / 2;
    if (texelFetch(table, middle * 6).x <= item)
      low = middle;
    else
      high = middle - 1;
  }
  const uvec4 head = texelFetch(table, low * 6), a = texelFetch(table, low * 6 + 1), b = texelFetch(table, low * 6 + 2),
              c = texelFetch(table, low * 6 + 3), d = texelFetch(table, low * 6 + 4), e = texelFetch(table, low * 6 + 5);
  const uint sizes[6] = {a.x, a.y, a.z, a.w, b.x, b.y};
  const int sourceStrides[6] = {int(b.z), int(b.w), int(c.x), int(c.y), int(c.z), int(c.w)};
  const int strides[6] = {int(d.x), int(d.y), int(d.z), int(d.w), int(e.x), int(e.y)};
  uint rest = item - head.x;
  int from = int(head.z), to = int(head.w);
  [[unroll]] for (uint i = 0; i < 6; ++i) {
    const uint axis = 5 - i;
    const uint index = rest % sizes[axis];
    rest /= sizes[axis];
    from += int(index) * sourceStrides[axis];
    to += int(index) * strides[axis];
  }
  if (head.y == 0)
    WORD_STORE(y, to, WORD_LOAD(x, from));
  else
    WORD_STORE(y, to, WORD_LOAD(z, from));
}
