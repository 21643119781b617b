// BatchNormalization of an NC4HW4 image with constant statistics: y = (x - mean) * factor + bias per channel, the mean
// first, so that a large mean costs no precision. One invocation per texel. `factors` holds the means, a vec4 of
// channels per block, then the factors and the biases likewise. Driven by ops/batch_norm/batch_norm_vulkan.cpp.
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
  // Channels that do not exist are zero and have mean, factor and bias zero.
  const vec4 centred = IMAGE_LOAD(x, column, row) - READ4(factors, block);
  IMAGE_STORE(y, column, row,
              centred * READ4(factors, push.blocks + block) + READ4(factors, 2 * push.blocks + block));
}
