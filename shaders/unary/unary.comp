// One function of ops/unary/unary_table.h on each element; `function` selects it. Driven by ops/unary/unary_vulkan.cpp.
//! variant STORAGE: f32 f16
//! variant WIDTH: 1 4
#version 450
#include "elementwise.glsl"
#include "math.glsl"

layout(constant_id = 0) const uint function = 0;

ELEMENTS_IN(0, X, x, STORAGE)
ELEMENTS_OUT(1, Y, y, STORAGE)

layout(push_constant) uniform Push {
  uint count;
  float a;
  float b;
} push;

#include "unary_functions.glsl"

#define VALUE_OF(x) applyOrNan(x, push.a, push.b)
void main() { MAP_ELEMENTS(VALUE_OF, y, STORAGE, x, STORAGE, push.count) }
