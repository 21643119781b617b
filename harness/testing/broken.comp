// Relu, wrong on purpose: `how` follows enum Break in harness/testing/broken_kernels.h. One invocation per element.
// The dropped tail guard lets whole work groups write. W is scratch memory of as many elements, C a packed constant of
// four zeros. Driven by harness/testing/broken_vulkan.cpp.
#version 450
layout(local_size_x = 64) in;
layout(binding = 0) readonly buffer X { float x[]; };
layout(binding = 1) writeonly buffer Y { float y[]; };
layout(binding = 2) buffer W { float w[]; };
layout(binding = 3) buffer C { float c[]; };
layout(push_constant) uniform Push {
  uint how;
  uint count;
  uint unread;  // declared to Vulkan unless `how` breaks its rules
}
push;
void main() {
  const uint i = gl_GlobalInvocationID.x;
  const uint count = push.count, how = push.how;
  if (i >= count && how != 2) return;
  if (how == 5 && i == count / 2) return;
  float value = max(x[i], 0.0);
  if (how == 1) value = -value;
  if (how == 3) value = uintBitsToFloat(0x7FC00000u);
  if (how == 99) value += float(push.unread);
  if (how == 10) value += c[4 + i % 4];
  y[i] = value;
  w[i] = value;
  if (i != 0) return;
  if (how == 4) y[count] = 1.0;
  if (how == 7) y[0] = c[0] += 1.0;
  if (how == 8) w[count] = 1.0;
  if (how == 9) c[4] = 1.0;
}
