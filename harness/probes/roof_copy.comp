// y = x: each group copies `rounds` runs of neighbouring vectors. The roof of memory. Driven by
// harness/probes/device_roof.cpp.
#version 450
#include "common.glsl"

layout(local_size_x = 128) in;

layout(binding = 0) readonly buffer X { vec4 x[]; };
layout(binding = 1) writeonly buffer Y { vec4 y[]; };

layout(push_constant) uniform Push {
  uint rounds;
} push;

void main() {
  uint i = linearGroup() * 128u * push.rounds + gl_LocalInvocationIndex;
  for (uint round = 0u; round < push.rounds; ++round, i += 128u) y[i] = x[i];
}
