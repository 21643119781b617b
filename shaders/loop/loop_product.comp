// LoopRegion's Product: small matrix products over an iteration space. One invocation per element; consecutive ones lie
// in a row, and sums of floats are kept in float. The views of the table are target, left and right. Driven by
// engine/backend/vulkan/vulkan_loop.cpp.
//! variant STORAGE: f32 f16 f64 i32 u32 i64 u64
#version 450
#include "common.glsl"
#include "storage.glsl"

layout(local_size_x = 64) in;
layout(constant_id = 0) const uint rank = 6;

layout(binding = 0) uniform usamplerBuffer table;
layout(binding = 1) readonly buffer A { STORAGE a[]; };
layout(binding = 2) readonly buffer B { STORAGE b[]; };
layout(binding = 3) writeonly buffer Y { STORAGE y[]; };

layout(push_constant) uniform Push {
  uint count;  // elements of all products
  uint rows;
  uint columns;
  uint depth;
  int aOffset;
  int bOffset;
  int yOffset;
  int aRow;  // strides
  int aDepth;
  int bColumn;
  int bDepth;
  int yRow;
  int yColumn;
  float low;
  float high;
} push;

#include "loop_offsets.glsl"

void main() {
  const uint item = linearIndex();
  if (item >= push.count) return;
  const uint column = item % push.columns, row = item / push.columns % push.rows;
  const ivec3 at = loopOffsets(item / push.columns / push.rows);
  const uint depth = push.depth;
  const int aStep = push.aDepth, bStep = push.bDepth;
  int left = push.aOffset + at.y + int(row) * push.aRow, right = push.bOffset + at.z + int(column) * push.bColumn;
  ARITH sum = ARITH(0);
  for (uint d = 0; d < depth; ++d) {
    sum += LOAD(a, left) * LOAD(b, right);
    left += aStep;
    right += bStep;
  }
#if defined(STORAGE_F32) || defined(STORAGE_F16) || defined(STORAGE_F64)
  sum = sum < ARITH(push.low) ? ARITH(push.low) : sum > ARITH(push.high) ? ARITH(push.high) : sum;  // not clamp(): a NaN stays one
#endif
  STORE(y, push.yOffset + at.x + int(row) * push.yRow + int(column) * push.yColumn, sum);
}
