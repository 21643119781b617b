// The p-norm of a window for pooling. Elements are divided by the largest if their powers overflow or vanish. Included
// after storage.glsl.
#ifndef OPKIT_POOL_NORM_GLSL
#define OPKIT_POOL_NORM_GLSL
#include "math.glsl"

/// |value / divisor|^power.
float powerOf(float value, float divisor, float power) {
  const float size = abs(divisor == 1.0 ? value : value / divisor);
  return power == 1.0 ? size : power == 2.0 ? size * size : mathPow(size, power);
}
float rootOf(float sum, float power) {
  return power == 1.0 ? sum : power == 2.0 ? sqrt(sum) : mathPow(sum, 1.0 / power);
}

/// What the elements of a window must be divided by; 1 if `sum`, that of their powers, may stay. A sum above 2^-60 has
/// lost nothing to powers that vanished.
float divisorOf(float sum, float largest) {
  if (isNan(sum) || isInf(largest) || largest == 0.0) return 1.0;
  if (sum > 8.6736174e-19 && !isInf(sum)) return 1.0;
  return max(largest, powerOfTwo(-126));
}

#endif
