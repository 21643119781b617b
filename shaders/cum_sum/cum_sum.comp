// Running sums along rows of `extent` elements that lie `inner` apart. One invocation per row; float sums are
// compensated (Kahan). Driven by ops/cum_sum/cum_sum_vulkan.cpp.
//! variant STORAGE: f32 f16 i8 u8 i16 u16 i32 u32 i64 u64
#version 450
#include "common.glsl"
#include "storage.glsl"

layout(local_size_x = 64) in;

layout(binding = 0) readonly buffer X { STORAGE x[]; };
layout(binding = 1) writeonly buffer Y { STORAGE y[]; };

layout(push_constant) uniform Push {
  uint rows;
  uint extent;
  uint inner;
  uint exclusive;
  uint reverse;
} push;

void main() {
  const uint row = linearIndex();
  const uint extent = push.extent, inner = push.inner;
  if (row >= push.rows) return;
  const uint first = row / inner * extent * inner + row % inner;
  precise ARITH sum = ARITH(0);
  precise ARITH lost = ARITH(0);
  for (uint step = 0; step < extent; ++step) {
    const uint at = first + (push.reverse != 0 ? extent - 1 - step : step) * inner;
    precise ARITH added = LOAD(x, at) - lost;
    precise ARITH next = sum + added;
    lost = (next - sum) - added;
#if defined(STORAGE_F32) || defined(STORAGE_F16)
    if (isnan(lost) || isinf(lost)) lost = 0.0;  // an infinite sum has no error
#endif
    STORE(y, at, push.exclusive != 0 ? sum : next);
    sum = next;
  }
}
