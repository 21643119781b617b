// The functions of ops/unary/unary_table.h; the specialisation constant `function` selects one.
/// Clamps to [0, 1]; NaN stays.
float limit(float value) { return value < 0.0 ? 0.0 : value > 1.0 ? 1.0 : value; }

float apply(float x, float a, float b) {
#define UNARY(id, Name, numericClass, alpha, beta, low, high, cpu, glsl) \
  if (function == uint(id)) return glsl;
#include "ops/unary/unary_table.h"
  return 0.0;
}

float applyOrNan(float value, float a, float b) {
  // The table's comparisons keep NaN, but a device may rewrite them as max and min, which may lose it.
  return isNan(value) ? value : apply(value, a, b);
}
