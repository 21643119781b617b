// Converts each element. Floats to integers truncate; anything but zero is true. One invocation per element.
// Driven by ops/cast/cast_vulkan.cpp.
//! variant FROM: f32 f16 i8 u8 i16 u16 i32 u32 i64 u64 bool
//! variant TO: f32 f16 i8 u8 i16 u16 i32 u32 i64 u64 bool
#version 450
#include "common.glsl"
#include "storage.glsl"

// A float below zero has no defined value as an unsigned integer. By way of a signed one it wraps.
#if (defined(FROM_F32) || defined(FROM_F16)) && defined(TO_U64)
#define CONVERT(value) (value < 0.0 ? uint64_t(int64_t(value)) : uint64_t(value))
#elif (defined(FROM_F32) || defined(FROM_F16)) && (defined(TO_U8) || defined(TO_U16) || defined(TO_U32))
#define CONVERT(value) (value < 0.0 ? uint(int(value)) : uint(value))
#else
#define CONVERT(value) (value)
#endif

layout(local_size_x = 64) in;

layout(binding = 0) readonly buffer X { FROM_TYPE x[]; };
layout(binding = 1) writeonly buffer Y { TO_TYPE y[]; };

layout(push_constant) uniform Push {
  uint count;
} push;

void main() {
  const uint i = linearIndex();
  if (i >= push.count) return;
  const FROM_ARITH value = FROM_LOAD(x, i);
  TO_STORE(y, i, CONVERT(value));
}
