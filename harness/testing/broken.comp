// Relu, wrong on purpose: `how` follows enum Break in harness/testing/broken_kernels.h. One invocation per element.
// The dropped tail guard lets whole work groups write. Driven by harness/testing/broken_vulkan.cpp.
#version 450
layout(local_size_x = 64) in;
layout(binding = 0) readonly buffer X { float x[]; };
layout(binding = 1) writeonly buffer Y { float y[]; };
layout(push_constant) uniform Push { uint count; uint how; } push;
void main() {
  const uint i = gl_GlobalInvocationID.x;
  const uint count = push.count, how = push.how;
  if (i >= count && how != 2) return;
  if (how == 5 && i == count / 2) return;
  float value = max(x[i], 0.0);
  if (how == 1) value = -value;
  if (how == 3) value = uintBitsToFloat(0x7FC00000u);
  y[i] = value;
  if (how == 4 && i == 0) y[count] = 1.0;
}
