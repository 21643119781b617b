// LoopRegion's RunningSum: a team per row of running sums, kRun neighbouring terms per invocation at a time. Float sums carry
// their rounding errors along (Kahan). The views of the table are target and source. Driven by
// engine/backend/vulkan/vulkan_loop.cpp.
//! variant STORAGE: f32 f16 i8 u8 i16 u16 i32 u32 i64 u64
#version 450
#include "storage.glsl"
#include "rows.glsl"

layout(constant_id = 3) const uint rank = 6;

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

const uint kRun = 8;

/// A sum is `sum` minus `lost`.
struct Sum {
  ARITH sum;
  ARITH lost;
};

Sum plus(Sum a, Sum b) {
  precise ARITH sum = a.sum + b.sum;
  ARITH lost = a.lost + b.lost;
#if defined(STORAGE_F32) || defined(STORAGE_F16)
  precise float partOfB = sum - a.sum;
  precise float error = (a.sum - (sum - partOfB)) + (b.sum - partOfB);
  if (!isNan(error) && !isInf(error)) lost -= error;  // an infinite sum has no error
#endif
  return Sum(sum, lost);
}

TEAM_SCAN(teamBefore, Sum, plus, Sum(ARITH(0), ARITH(0)))

void main() {
  const uint row = teamRow(), terms = push.terms;
  const uint end = row < push.rows ? terms : 0u;
  const ivec3 at = loopOffsets(min(row, push.rows - 1u));
  const int from = push.xOffset + at.y, to = push.yOffset + at.x;
  Sum carry = Sum(ARITH(0), ARITH(0));
  for (uint tile = 0; tile < terms; tile += kRun * team) {
    const uint first = tile + teamLane() * kRun;
    ARITH values[kRun];
    Sum own = Sum(ARITH(0), ARITH(0)), all;
    [[unroll]] for (uint k = 0; k < kRun; ++k) {
      values[k] = first + k < end ? LOAD(x, from + int(first + k) * push.xStride) : ARITH(0);
      own = plus(own, Sum(values[k], ARITH(0)));
    }
    Sum running = plus(carry, teamBefore(own, all));
    carry = plus(carry, all);
    [[unroll]] for (uint k = 0; k < kRun; ++k) {
      const Sum next = plus(running, Sum(values[k], ARITH(0)));
      const Sum shown = push.exclusive != 0 ? running : next;
      if (first + k < end) STORE(y, to + int(first + k) * push.yStride, shown.sum - shown.lost);
      running = next;
    }
  }
}
