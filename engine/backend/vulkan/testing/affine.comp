// y = x * factor + amount, for the tests of the backend.
//! variant STORAGE: f32 f16 i32 i64 u8
#version 450
#include "common.glsl"
#include "storage.glsl"

layout(local_size_x = 64) in;
layout(constant_id = 0) const uint factor = 1;

layout(binding = 0) readonly buffer X { STORAGE x[]; };
layout(binding = 1) writeonly buffer Y { STORAGE y[]; };

layout(push_constant) uniform Push {
  uint count;
  float amount;
} push;

void main() {
  const uint i = linearIndex();
  if (i < push.count) STORE(y, i, LOAD(x, i) * ARITH(factor) + ARITH(push.amount));
}
