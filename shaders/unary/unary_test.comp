// The tests of ops/unary/unary_table.h (IsNaN, IsInf): float in, bool out; FUNCTION selects one. One invocation per
// element. Driven by ops/unary/unary_vulkan.cpp.
//! variant STORAGE: f32 f16
#version 450
#include "common.glsl"
#include "math.glsl"
#include "storage.glsl"

layout(local_size_x = 64) in;
layout(constant_id = 0) const uint function = 0;

layout(binding = 0) readonly buffer X { STORAGE x[]; };
layout(binding = 1) writeonly buffer Y { TYPE_BOOL y[]; };

layout(push_constant) uniform Push {
  uint count;
  float a;
  float b;
} push;

bool apply(float x, float a, float b) {
#define UNARY_TEST(id, Name, alpha, beta, cpu, glsl) \
  if (function == uint(id)) return glsl;
#include "ops/unary/unary_table.h"
  return false;
}

void main() {
  const uint i = linearIndex();
  if (i >= push.count) return;
  STORE_BOOL(y, i, apply(LOAD(x, i), push.a, push.b));
}
