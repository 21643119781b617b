// The tests of ops/unary/unary_table.h (IsNaN, IsInf): float in, bool out; `function` selects one. Driven by ops/unary/unary_vulkan.cpp.
//! variant STORAGE: f32 f16 f64
//! variant WIDTH: 1 4
#version 450
#include "elementwise.glsl"
#include "math.glsl"
#ifdef STORAGE_F64
#include "double.glsl"
#endif

layout(constant_id = 0) const uint function = 0;

ELEMENTS_IN(0, X, x, STORAGE)
ELEMENTS_OUT(1, Y, y, BOOL)

layout(push_constant) uniform Push {
  uint count;
  float a;
  float b;
} push;

bool apply(ARITH x, float a, float b) {
#define UNARY_TEST(id, Name, alpha, beta, cpu, glsl) \
  if (function == uint(id)) return glsl;
#include "ops/unary/unary_table.h"
  return false;
}

#define VALUE_OF(x) apply(x, push.a, push.b)
void main() { MAP_ELEMENTS(VALUE_OF, y, BOOL, x, STORAGE, push.count) }
