// LoopRegion's RunningSum: a team per row of running sums, kRun neighbouring terms per invocation at a time.
// running_sums.glsl has the arithmetic. The views of the table are target and source. Driven by
// engine/backend/vulkan/vulkan_loop.cpp.
//! variant STORAGE: f32 f16 f64 i8 u8 i16 u16 i32 u32 i64 u64
#version 450
#include "storage.glsl"
#include "rows.glsl"

layout(constant_id = 3) const uint rank = 6;
layout(constant_id = 4) const bool isProduct = false;

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
#include "running_sums.glsl"

const uint kRun = 8;

void main() {
  const uint row = teamRow(), terms = push.terms;
  const uint end = row < push.rows ? terms : 0u;
  const ivec3 at = loopOffsets(min(row, push.rows - 1u));
  const int from = push.xOffset + at.y, to = push.yOffset + at.x;
  Sum carry = kNothing;
  for (uint tile = 0; tile < terms; tile += kRun * team) {
    const uint first = tile + teamLane() * kRun;
    ARITH values[kRun];
    Sum own = kNothing, all;
    [[unroll]] for (uint k = 0; k < kRun; ++k) {
      values[k] = first + k < end ? LOAD(x, from + int(first + k) * push.xStride) : kNoTerm;
      own = plusTerm(own, values[k]);
    }
    Sum running = plus(carry, teamBefore(own, all));
    carry = plus(carry, all);
    [[unroll]] for (uint k = 0; k < kRun; ++k) {
      const Sum next = plusTerm(running, values[k]);
      const Sum shown = push.exclusive != 0 ? running : next;
      if (first + k < end) STORE(y, to + int(first + k) * push.yStride, valueOf(shown));
      running = next;
    }
  }
}
