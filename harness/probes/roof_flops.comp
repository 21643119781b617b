// Multiply-adds from registers: 8 independent chains of vectors per invocation, `steps` times. The roof of arithmetic.
// Driven by harness/probes/device_roof.cpp.
#version 450
#include "common.glsl"

layout(local_size_x = 128) in;

layout(binding = 0) readonly buffer X { vec4 x[]; };  // a factor and a summand
layout(binding = 1) writeonly buffer Y { float y[]; };

layout(push_constant) uniform Push {
  uint steps;
} push;

void main() {
  const vec4 factor = x[0], summand = x[1];
  vec4 a = vec4(float(linearIndex() & 127u)), b = a + 1.0, c = a + 2.0, d = a + 3.0;
  vec4 e = a + 4.0, f = a + 5.0, g = a + 6.0, h = a + 7.0;
  for (uint i = 0u; i < push.steps; ++i) {
    a = fma(a, factor, summand);
    b = fma(b, factor, summand);
    c = fma(c, factor, summand);
    d = fma(d, factor, summand);
    e = fma(e, factor, summand);
    f = fma(f, factor, summand);
    g = fma(g, factor, summand);
    h = fma(h, factor, summand);
  }
  const vec4 sum = a + b + c + d + e + f + g + h;
  // All invocations of a number store equal values, so that no chain can be left out.
  y[linearIndex() & 127u] = sum.x + sum.y + sum.z + sum.w;
}
