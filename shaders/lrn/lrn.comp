// x / (bias + alpha/size * sum of squares over neighbouring channels)^beta. A team per
// element walks its window.
// Driven by ops/lrn/lrn_vulkan.cpp.
//! variant STORAGE: f32 f16
#version 450
#include "math.glsl"
#include "storage.glsl"
#include "rows.glsl"

layout(binding = 0) readonly buffer X { STORAGE x[]; };
layout(binding = 1) writeonly buffer Y { STORAGE y[]; };

layout(push_constant) uniform Push {
  uint count;
  uint channels;
  uint inner;
  uint before;
  uint after;
  float scale;  // alpha/size
  float beta;
  float bias;
} push;

TEAM_FOLD(teamSum, float, ROW_ADD)

void main() {
  const uint i = teamRow();
  const uint inner = push.inner, channels = push.channels;
  const uint c = i / inner % channels;
  const uint first = c - min(c, push.before), last = min(channels - 1u, c + push.after);
  const uint window = i < push.count ? last - first + 1u : 0u;
  vec2 sum = kNoBlocks;
  float part = 0.0;
  BLOCKS_OF_ROW(n, window)
    const float value = LOAD(x, i + (first + n) * inner - c * inner);
    part += value * value;
  END_OF_BLOCK
    addBlock(sum, part);
  END_OF_BLOCKS
  const float squares = teamSum(sumOfBlocks(sum));
  if (window > 0u && teamLane() == 0u)
    STORE(y, i, LOAD(x, i) / mathPow(push.bias + push.scale * squares, push.beta));
}
