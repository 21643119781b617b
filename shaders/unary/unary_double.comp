// The functions of ops/unary/unary_table.h that GLSL or math_double.glsl has for double; `function` selects one by its id
// there. Driven by ops/unary/unary_vulkan.cpp.
//! variant STORAGE: f64
//! variant WIDTH: 1 4
#version 450
#include "elementwise.glsl"
#include "math.glsl"
#include "math_double.glsl"

layout(constant_id = 0) const uint function = 0;

ELEMENTS_IN(0, X, x, STORAGE)
ELEMENTS_OUT(1, Y, y, STORAGE)

layout(push_constant) uniform Push {
  uint count;
  float a;
  float b;
} push;

double apply(double x, double a, double b) {
#define UNARY_DOUBLE(id, Name, glsl) \
  if (function == uint(id)) return glsl;
#include "ops/unary/unary_table.h"
  return 0.0lf;
}

double applyOrNan(double value, double a, double b) {
  // As in unary_functions.glsl: a device may rewrite comparisons as max and min, which may lose a NaN.
  return isNan(value) ? value : apply(value, a, b);
}

#define VALUE_OF(x) applyOrNan(x, double(push.a), double(push.b))
void main() { MAP_ELEMENTS(VALUE_OF, y, STORAGE, x, STORAGE, push.count) }
