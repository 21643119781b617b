// One function of ops/unary/unary_table.h on each element of an NC4HW4 image; `function` selects it. One invocation
// per texel. Driven by ops/unary/unary_vulkan.cpp.
//! variant STORAGE: f32 f16
#version 450
#include "common.glsl"
#include "math.glsl"
#include "storage.glsl"
#include "image4.glsl"

layout(local_size_x = 64) in;
layout(constant_id = 0) const uint function = 0;

IMAGE_IN(0, x)
IMAGE_OUT(1, y)

layout(push_constant) uniform Push {
  uint count;    // texels
  uint columns;  // of one channel block
  uint blocks;
  uint channels;
  float a;
  float b;
} push;

#include "unary_functions.glsl"

void main() {
  const uint i = linearIndex();
  if (i >= push.count) return;
  const uint width = push.blocks * push.columns, column = i % width, row = i / width;
  const vec4 value = IMAGE_LOAD(x, column, row);
  const vec4 result = vec4(applyOrNan(value.x, push.a, push.b), applyOrNan(value.y, push.a, push.b),
                           applyOrNan(value.z, push.a, push.b), applyOrNan(value.w, push.a, push.b));
  IMAGE_STORE(y, column, row, keepChannels(result, push.channels - column / push.columns * 4u));
}
