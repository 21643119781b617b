// LoopRegion's Scatter that combines: every element of the target folds its items, a run in the sorted pairs of
// loop_sort.comp, into its element of the base; floats in float, NaN wins a maximum and a minimum. One invocation per
// element. The views of the table are target, source and indices. Driven by engine/backend/vulkan/vulkan_scatter.cpp.
//! variant STORAGE: f32 f16 f64 i8 u8 i16 u16 i32 u32 i64 u64
#version 450
#include "common.glsl"
#include "storage.glsl"

layout(local_size_x = 64) in;
layout(constant_id = 0) const uint rank = 6;
layout(constant_id = 1) const uint combine = 1;  // opkit::Combine

layout(binding = 0) uniform usamplerBuffer table;
layout(binding = 1) readonly buffer Base { STORAGE base[]; };
layout(binding = 2) readonly buffer X { STORAGE x[]; };
layout(binding = 3) readonly buffer Places { uvec2 places[]; };  // (block, item), by block; the last is of none
layout(binding = 4) writeonly buffer Y { STORAGE y[]; };

layout(push_constant) uniform Push {
  uint count;
  uint items;
  int sourceOffset;
  uint block;  // elements of an item
} push;

#include "loop_offsets.glsl"

ARITH combined(ARITH old, ARITH value) {
  if (combine == 1) return old + value;
  if (combine == 2) return old * value;
  const bool wins = combine == 3 ? !(value <= old) : !(value >= old);
  return wins && old == old ? value : old;
}

void main() {
  const uint i = linearIndex();
  if (i >= push.count) return;
  const uint block = i / push.block;
  uint low = 0, high = push.items;
  while (low < high) {
    const uint middle = (low + high) / 2;
    if (places[middle].x < block)
      low = middle + 1;
    else
      high = middle;
  }
  ARITH value = LOAD(base, i);
  for (uint p = low; places[p].x == block; ++p)
    value = combined(value, LOAD(x, push.sourceOffset + loopOffsets(places[p].y * push.block + i % push.block).y));
  STORE(y, i, value);
}
