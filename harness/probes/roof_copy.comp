// y = x, four elements per invocation. The roof of memory. Driven by harness/probes/device_roof.cpp.
#version 450
#include "common.glsl"

layout(local_size_x = 128) in;

layout(binding = 0) readonly buffer X { vec4 x[]; };
layout(binding = 1) writeonly buffer Y { vec4 y[]; };

layout(push_constant) uniform Push {
  uint count;
} push;

void main() {
  const uint i = linearIndex();
  if (i < push.count) y[i] = x[i];
}
