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

/// Into [0, 1]; NaN stays.
float limit(float value) { return value < 0.0 ? 0.0 : value > 1.0 ? 1.0 : value; }

float apply(float x, float a, float b) {
#define UNARY(id, Name, numericClass, alpha, beta, low, high, real, glsl) \
  if (function == uint(id)) return glsl;
#include "ops/unary/unary_table.h"
  return 0.0;
}

void main() {
  const uint i = linearIndex();
  if (i >= push.count) return;
  const float value = LOAD(x, i);
  // The table's comparisons keep NaN, but a device may rewrite them as max and min, which need not.
  STORE(y, i, isNan(value) ? value : apply(value, push.a, push.b));
}
