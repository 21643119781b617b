// One region whose sides run along different dimensions, a transpose: a work group moves a box of it through shared
// memory. It loads in the order of the source and stores in the order of the destination, so that neighbouring
// invocations reach neighbouring words on both sides. The box spans the last four dimensions; every extent is a constant,
// so that its divisions are cheap. The tile holds planes of 32 bits and leaves `gap` words out every `gapEvery`, so that no
// two invocations of a subgroup meet in one bank. engine/backend/vulkan/raster_tiles.cpp plans, vulkan_raster.cpp
// dispatches.
//! variant WORD: u8 u16 u32 u32x2 u32x4
#version 450
#include "common.glsl"
#include "storage.glsl"

layout(local_size_x = 256, local_size_x_id = 0) in;
layout(constant_id = 1) const uint box2 = 1;  // extents of the box along dimensions 2 to 5
layout(constant_id = 2) const uint box3 = 1;
layout(constant_id = 3) const uint box4 = 32;
layout(constant_id = 4) const uint box5 = 32;
layout(constant_id = 5) const uint order0 = 2;  // the same, 0 to 3, by distance in the source, nearest first
layout(constant_id = 6) const uint order1 = 3;
layout(constant_id = 7) const uint order2 = 1;
layout(constant_id = 8) const uint order3 = 0;
layout(constant_id = 9) const uint gapEvery = 32;
layout(constant_id = 10) const uint gap = 1;

layout(binding = 0) readonly buffer X { WORD_TYPE x[]; };
layout(binding = 1) writeonly buffer Y { WORD_TYPE y[]; };

layout(push_constant) uniform Push {
  uint groups;
  int sourceOffset;
  int offset;
  uint sizes[6];  // of the region, outermost first
  int sourceStrides[6];
  int strides[6];
} push;

#if defined(WORD_U32X4)
const uint kPlanes = 4;
#elif defined(WORD_U32X2)
const uint kPlanes = 2;
#else
const uint kPlanes = 1;
#endif

const uint area = box2 * box3 * box4 * box5;
const uint plane = area + area / gapEvery * gap;  // words of 32 bits
shared uint tile[kPlanes * plane];

void put(uint i, WORD_ARITH value) {
  const uint slot = i + i / gapEvery * gap;
#if defined(WORD_U32X2) || defined(WORD_U32X4)
  [[unroll]] for (uint k = 0; k < kPlanes; ++k) tile[k * plane + slot] = value[k];
#else
  tile[slot] = value;
#endif
}

WORD_ARITH get(uint i) {
  const uint slot = i + i / gapEvery * gap;
#if defined(WORD_U32X2) || defined(WORD_U32X4)
  WORD_ARITH value;
  [[unroll]] for (uint k = 0; k < kPlanes; ++k) value[k] = tile[k * plane + slot];
  return value;
#else
  return tile[slot];
#endif
}

void main() {
  const uint box[4] = {box2, box3, box4, box5}, order[4] = {order0, order1, order2, order3};
  const uint group = (gl_WorkGroupID.z * gl_NumWorkGroups.y + gl_WorkGroupID.y) * gl_NumWorkGroups.x + gl_WorkGroupID.x;
  if (group >= push.groups) return;

  uint left[4];  // extents of the region from the box on
  int from = push.sourceOffset, to = push.offset;
  uint rest = group;
  [[unroll]] for (int d = 5; d >= 0; --d) {
    const uint extent = d < 2 ? 1 : box[d - 2], boxes = ceilDiv(push.sizes[d], extent);
    const uint first = rest % boxes * extent;
    rest /= boxes;
    from += int(first) * push.sourceStrides[d];
    to += int(first) * push.strides[d];
    if (d >= 2) left[d - 2] = push.sizes[d] - first;
  }

  uint steps[4];  // words of the tile between neighbours along a dimension: the tile lies in the source's order
  uint step = 1;
  [[unroll]] for (uint k = 0; k < 4; ++k) {
    steps[order[k]] = step;
    step *= box[order[k]];
  }

  for (uint i = gl_LocalInvocationIndex; i < area; i += gl_WorkGroupSize.x) {
    int at = from;
    uint next = i;
    bool inside = true;
    [[unroll]] for (uint k = 0; k < 4; ++k) {
      const uint d = order[k], index = next % box[d];
      next /= box[d];
      at += int(index) * push.sourceStrides[d + 2];
      inside = inside && index < left[d];
    }
    if (inside) put(i, WORD_LOAD(x, at));
  }
  barrier();
  for (uint i = gl_LocalInvocationIndex; i < area; i += gl_WorkGroupSize.x) {
    int at = to;
    uint next = i, source = 0;
    bool inside = true;
    [[unroll]] for (int d = 3; d >= 0; --d) {
      const uint index = next % box[d];
      next /= box[d];
      at += int(index) * push.strides[d + 2];
      source += index * steps[d];
      inside = inside && index < left[d];
    }
    if (inside) WORD_STORE(y, at, get(source));
  }
}
