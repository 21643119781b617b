// Spoils elements of y: those with (index / inner) % extent >= from. Driven by harness/testing/planted_vulkan.cpp.
#version 450
layout(local_size_x = 64) in;
layout(binding = 0) buffer Y { float y[]; };
layout(push_constant) uniform Push {
  uint count;
  uint inner;
  uint extent;
  uint from;
}
push;
void main() {
  for (uint i = gl_GlobalInvocationID.x; i < push.count; i += gl_NumWorkGroups.x * 64)
    if (i / push.inner % push.extent >= push.from) y[i] = isinf(y[i]) ? 1.0 : 2.0 * y[i] + 1.0;
}
