// A tensor [batch, channels, height, width] from a buffer into an image (shaders/include/image4.glsl). One invocation
// per texel. Driven by engine/backend/vulkan/image_conversion.cpp.
//! variant STORAGE: f32 f16
//! variant READ: ssbo texel
#version 450
#include "common.glsl"
#include "storage.glsl"
#include "read4.glsl"
#include "image4.glsl"

layout(local_size_x = 64) in;

// A texel device fetches the vec4 around an element and picks it: still several times faster than a scalar load.
#ifdef READ_TEXEL
READ4_BUFFER(0, X, x, STORAGE4)
#define LOAD_X(i) (READ4(x, (i) >> 2)[(i) & 3u])
#else
layout(binding = 0) readonly buffer X { STORAGE x[]; };
#define LOAD_X(i) LOAD(x, i)
#endif
IMAGE_OUT(1, y)

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
  vec4 value = vec4(0.0);
  const uint left = channels - block * 4u;
  value.x = LOAD_X(first);
  if (left > 1u) value.y = LOAD_X(first + plane);
  if (left > 2u) value.z = LOAD_X(first + 2u * plane);
  if (left > 3u) value.w = LOAD_X(first + 3u * plane);
  IMAGE_STORE(y, column, row, value);
}
