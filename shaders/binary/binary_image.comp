// One arithmetic function of ops/binary/binary_table.h on the elements of two NC4HW4 images of one shape; `function`
// selects it. One invocation per texel. Driven by ops/binary/binary_vulkan.cpp.
//! variant STORAGE: f32 f16
#version 450
#include "common.glsl"
#include "math.glsl"
#include "storage.glsl"
#include "image4.glsl"

layout(local_size_x = 64) in;
layout(constant_id = 0) const uint function = 0;

IMAGE_IN(0, x)
IMAGE_IN(1, y)
IMAGE_OUT(2, z)

layout(push_constant) uniform Push {
  uint count;    // texels
  uint columns;  // of one channel block
  uint blocks;
  uint channels;
  float low;  // of the clamp
  float high;
} push;

#define BINARY(id, Name, numericClass, types, low, high, cpu, cpuInteger, glsl, glslInteger) \
  if (function == uint(id)) return glsl;

float apply(float x, float y) {
#include "ops/binary/binary_table.h"
  return x;
}

void main() {
  const uint i = linearIndex();
  if (i >= push.count) return;
  const uint width = push.blocks * push.columns, column = i % width, row = i / width;
  const vec4 a = IMAGE_LOAD(x, column, row), b = IMAGE_LOAD(y, column, row);
  vec4 result = vec4(apply(a.x, b.x), apply(a.y, b.y), apply(a.z, b.z), apply(a.w, b.w));
  result = mix(result, vec4(push.low), lessThan(result, vec4(push.low)));  // a NaN stays
  result = mix(result, vec4(push.high), greaterThan(result, vec4(push.high)));
  IMAGE_STORE(z, column, row, keepChannels(result, push.channels - column / push.columns * 4u));
}
