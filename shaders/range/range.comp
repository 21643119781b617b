// start + i * delta. One invocation per value. Driven by ops/range/range_vulkan.cpp.
//! variant STORAGE: f32 f16 i16 i32 i64
#version 450
#include "common.glsl"
#include "storage.glsl"

layout(local_size_x = 64) in;

layout(binding = 0) readonly buffer Start { STORAGE start[]; };
layout(binding = 1) readonly buffer Delta { STORAGE delta[]; };
layout(binding = 2) writeonly buffer Y { STORAGE y[]; };

layout(push_constant) uniform Push {
  uint count;
} push;

void main() {
  const uint i = linearIndex();
  if (i >= push.count) return;
  STORE(y, i, LOAD(start, 0) + ARITH(i) * LOAD(delta, 0));
}
