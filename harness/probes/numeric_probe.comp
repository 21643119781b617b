// Probes arithmetic that Vulkan leaves open: y[i] = f(x[i]), f selected by `function`. One invocation per element.
// Driven by harness/probes/device_profile.cpp; the order of functions is the same there.
#version 450
#include "common.glsl"

layout(local_size_x = 64) in;

layout(binding = 0) readonly buffer X { float x[]; };
layout(binding = 1) writeonly buffer Y { float y[]; };

layout(push_constant) uniform Push {
  uint count;
  uint function;
  float other;
} push;

float probe(uint function, float v, float other) {
  switch (function) {
    case 0: return v * other;
    case 1: return max(v, other);
    case 2: return max(other, v);
    case 3: return min(v, other);
    case 4: return clamp(v, 0.0, other);
    case 5: return v + other;
    case 6: return fma(v, v, -other);
    case 7: return exp(v);
    case 8: return log(v);
    case 9: return sin(v);
    case 10: return tanh(v);
    case 11: return sqrt(v);
    default: return other / v;
  }
}

void main() {
  const uint i = linearIndex();
  if (i < push.count) y[i] = probe(push.function, x[i], push.other);
}
