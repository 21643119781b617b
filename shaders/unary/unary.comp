// One function of ops/unary/unary_table.h on each element; FUNCTION selects it. One invocation per element.
// Driven by ops/unary/unary_vulkan.cpp.
//! variant STORAGE: f32 f16
#version 450
#include "common.glsl"
#include "math.glsl"
#include "storage.glsl"

layout(local_size_x = 64) in;
layout(constant_id = 0) const uint function = 0;

layout(binding = 0) readonly buffer X { STORAGE x[]; };
layout(binding = 1) writeonly buffer Y { STORAGE y[]; };

layout(push_constant) uniform Push {
  uint count;
  float a;
  float b;
} push;

#include "unary_functions.glsl"

void main() {
  const uint i = linearIndex();
  if (i >= push.count) return;
  STORE(y, i, applyOrNan(LOAD(x, i), push.a, push.b));
}
