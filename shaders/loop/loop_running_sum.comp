// LoopRegion's RunningSum: one row of running sums per invocation; float sums are compensated (Kahan). The views of the
// table are target and source. Driven by engine/backend/vulkan/vulkan_loop.cpp.
//! variant STORAGE: f32 f16 i8 u8 i16 u16 i32 u32 i64 u64
#version 450
#include "common.glsl"
#include "storage.glsl"

layout(local_size_x = 64) in;
layout(constant_id = 0) const uint rank = 6;

layout(binding = 0) uniform usamplerBuffer table;
layout(binding = 1) readonly buffer X { STORAGE x[]; };
layout(binding = 2) writeonly buffer Y { STORAGE y[]; };

layout(push_constant) uniform Push {
  uint rows;
  uint terms;  // of a row
  int xOffset;
  int yOffset;
  int xStride;
  int yStride;
  uint exclusive;
} push;

#include "loop_offsets.glsl"

void main() {
  const uint row = linearIndex();
  if (row >= push.rows) return;
  const ivec3 at = loopOffsets(row);
  const uint terms = push.terms;
  const bool exclusive = push.exclusive != 0;
  const int xStride = push.xStride, yStride = push.yStride;
  int from = push.xOffset + at.y, to = push.yOffset + at.x;
  precise ARITH sum = ARITH(0);
  precise ARITH lost = ARITH(0);
  for (uint n = 0; n < terms; ++n) {
    precise ARITH added = LOAD(x, from) - lost;
    precise ARITH next = sum + added;
    lost = (next - sum) - added;
#if defined(STORAGE_F32) || defined(STORAGE_F16)
    if (isnan(lost) || isinf(lost)) lost = 0.0;  // an infinite sum has no error
#endif
    STORE(y, to, exclusive ? sum : next);
    sum = next;
    from += xStride;
    to += yStride;
  }
}
