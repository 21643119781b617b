// A tensor [batch, channels, height, width] from an image (shaders/include/image4.glsl) into a buffer. One invocation
// per texel. Driven by engine/backend/vulkan/image_conversion.cpp.
//! variant STORAGE: f32 f16
#version 450
#include "common.glsl"
#include "storage.glsl"
#include "image4.glsl"

layout(local_size_x = 64) in;

IMAGE_IN(0, x)
layout(binding = 1) writeonly buffer Y { STORAGE y[]; };

layout(push_constant) uniform Push {
  uint count;  // texels
  uint channels;
  uint height;
  uint width;
} push;

void main() {
  const uint i = linearIndex();
  if (i >= push.count) return;
  const uint width = push.width, height = push.height, channels = push.channels;
  const uint blocks = ceilDiv(channels, 4u), columns = blocks * width;
  const uint column = i % columns, row = i / columns, block = column / width;
  const uint plane = height * width;
  const uint first = (row / height * channels + block * 4u) * plane + row % height * width + column % width;
  const uint left = channels - block * 4u;
  const vec4 value = IMAGE_LOAD(x, column, row);
  STORE(y, first, value.x);
  if (left > 1u) STORE(y, first + plane, value.y);
  if (left > 2u) STORE(y, first + 2u * plane, value.z);
  if (left > 3u) STORE(y, first + 3u * plane, value.w);
}
