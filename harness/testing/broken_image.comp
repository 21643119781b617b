// Relu of an NC4HW4 image of f32, wrong on purpose: `how` 1 writes a texel beyond the tensor, 2 fills the components beyond
// the last channel. One invocation per texel. Driven by harness/check/account_test.cpp.
#version 450
layout(local_size_x = 64) in;
layout(binding = 0) uniform sampler2D x;
layout(binding = 1, rgba32f) writeonly uniform image2D y;
layout(push_constant) uniform Push {
  uint how;
  uint columns;
  uint rows;
}
push;
void main() {
  const uint i = gl_GlobalInvocationID.x;
  if (i >= push.columns * push.rows) return;
  const ivec2 at = ivec2(i % push.columns, i / push.columns);
  const vec4 value = max(texelFetch(x, at, 0), vec4(0.0));
  imageStore(y, at, push.how == 2 ? value + vec4(0.0, 0.0, 0.0, 1.0) : value);
  if (push.how == 1 && i == 0) imageStore(y, ivec2(push.columns, 0), vec4(1.0));
}
