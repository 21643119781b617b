// BatchNormalization of an NC4HW4 image with constant statistics: y = x * factor + shift per channel. One invocation per
// texel. `factors` holds a vec4 of channels per block, then the shifts likewise. Driven by
// ops/batch_norm/batch_norm_vulkan.cpp.
//! variant READ: ssbo texel
#version 450
#include "common.glsl"
#include "read4.glsl"
#include "image4.glsl"

layout(local_size_x = 64) in;

IMAGE_IN(0, x)
READ4_BUFFER(1, Factors, factors, vec4)
IMAGE_OUT(2, y)

layout(push_constant) uniform Push {
  uint count;    // texels
  uint columns;  // of one channel block
  uint blocks;
} push;

void main() {
  const uint i = linearIndex();
  if (i >= push.count) return;
  const uint width = push.blocks * push.columns, column = i % width, row = i / width;
  const uint block = column / push.columns;
  // Channels that do not exist have factor and shift zero, and are zero.
  IMAGE_STORE(y, column, row, IMAGE_LOAD(x, column, row) * READ4(factors, block) + READ4(factors, push.blocks + block));
}
