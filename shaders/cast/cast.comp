// Converts each element. Floats to integers truncate; anything but zero is true. One invocation per element.
// Driven by ops/cast/cast_vulkan.cpp.
//! variant FROM: f32 f16 i8 u8 i16 u16 i32 u32 i64 u64 bool
//! variant TO: f32 f16 i8 u8 i16 u16 i32 u32 i64 u64 bool
#version 450
#include "common.glsl"
#include "storage.glsl"

layout(local_size_x = 64) in;

layout(binding = 0) readonly buffer X { FROM_TYPE x[]; };
layout(binding = 1) writeonly buffer Y { TO_TYPE y[]; };

layout(push_constant) uniform Push {
  uint count;
} push;

void main() {
  const uint i = linearIndex();
  if (i >= push.count) return;
  TO_STORE(y, i, FROM_LOAD(x, i));
}
