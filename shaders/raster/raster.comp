// One region: a strided copy of a box of up to six dimensions. One invocation per word; offsets and strides count
// words and may be zero or negative. `rank` is specialised so that the divisions of unused dimensions vanish. Along one
// dimension in which the source repeats, an invocation may store several copies of the word that it loads.
// Driven by engine/backend/vulkan/vulkan_raster.cpp, which chooses the widest word that the region allows.
//! variant WORD: u8 u16 u32 u32x2 u32x4
#version 450
#include "common.glsl"
#include "storage.glsl"

layout(local_size_x = 256, local_size_x_id = 0) in;
layout(constant_id = 1) const uint rank = 6;
layout(constant_id = 2) const uint copiesPerItem = 1;
layout(constant_id = 3) const uint copied = 0;  // the dimension, whose size counts items

layout(binding = 0) readonly buffer X { WORD_TYPE x[]; };
layout(binding = 1) writeonly buffer Y { WORD_TYPE y[]; };

layout(push_constant) uniform Push {
  uint count;  // words in the box
  int sourceOffset;
  int offset;
  uint sizes[6];  // outermost first; the first `rank` count
  int sourceStrides[6];
  int strides[6];
  uint copies;  // extent of the copied dimension
  int copyStride;
} push;

void main() {
  uint rest = linearIndex();
  if (rest >= push.count) return;
  int from = push.sourceOffset;
  int to = push.offset;
  uint first = 0;  // copy of this item
  [[unroll]] for (uint i = 0; i < 6; ++i) {
    if (i >= rank) break;
    const uint d = rank - 1 - i;
    uint index = rest;
    if (d > 0) {
      index = rest % push.sizes[d];
      rest /= push.sizes[d];
    }
    from += int(index) * push.sourceStrides[d];
    to += int(index) * push.strides[d];
    if (d == copied) first = index * copiesPerItem;
  }
  const WORD_ARITH value = WORD_LOAD(x, from);
  if (copiesPerItem == 1) {
    WORD_STORE(y, to, value);
    return;
  }
  const uint copies = min(copiesPerItem, push.copies - first);
  for (uint k = 0; k < copies; ++k) WORD_STORE(y, to + int(k) * push.copyStride, value);
}
