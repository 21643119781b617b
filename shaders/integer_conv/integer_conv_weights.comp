// The weights of a convolution laid out for integer_conv.comp: the bytes of 4 output channels of a group side by side,
// [groups][channels of a group / 4][depth]; those beyond the group are the last channel's. Driven by
// ops/integer_conv/integer_conv_vulkan.cpp.
#version 450
#include "common.glsl"

layout(local_size_x = 64) in;

layout(binding = 0) readonly buffer W { uint8_t w[]; };
layout(binding = 1) writeonly buffer Fours { u8vec4 fours[]; };

layout(push_constant) uniform Push {
  uint count;  // of fours
  uint blocks;
  uint depth;
  uint groupOutputs;
} push;

void main() {
  const uint item = linearIndex();
  if (item >= push.count) return;
  const uint k = item % push.depth, block = item / push.depth % push.blocks, group = item / push.depth / push.blocks;
  uvec4 bytes;
  [[unroll]] for (uint i = 0u; i < 4u; ++i) {
    const uint channel = group * push.groupOutputs + min(block * 4u + i, push.groupOutputs - 1u);
    bytes[i] = uint(w[channel * push.depth + k]);
  }
  fours[item] = u8vec4(bytes);
}
