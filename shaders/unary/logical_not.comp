// Logical negation of bools. One invocation per element. Driven by ops/unary/unary_vulkan.cpp.
#version 450
#include "common.glsl"
#include "storage.glsl"

layout(local_size_x = 64) in;

layout(binding = 0) readonly buffer X { TYPE_BOOL x[]; };
layout(binding = 1) writeonly buffer Y { TYPE_BOOL y[]; };

layout(push_constant) uniform Push {
  uint count;
} push;

void main() {
  const uint i = linearIndex();
  if (i >= push.count) return;
  STORE_BOOL(y, i, !LOAD_BOOL(x, i));
}
