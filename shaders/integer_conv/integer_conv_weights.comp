// The weights of a convolution laid out for integer_conv.comp, where they are no constants: for each group and each 4 of its
// output channels the sums of the four, then [channels of a group / 4][taps] words of 4 input channels, signed, for each
// of the four. Channels beyond the group are 0. An invocation lays out an output channel. Driven by
// ops/integer_conv/integer_conv_vulkan.cpp.
#version 450
#include "common.glsl"

layout(local_size_x = 64) in;

layout(binding = 0) readonly buffer W { uint8_t w[]; };
layout(binding = 1) writeonly buffer Words { uint words[]; };

layout(push_constant) uniform Push {
  uint items;  // invocations: 4 for each 4 output channels
  uint blocks;
  uint taps;
  uint groupInputs;
  uint groupOutputs;
  uint flip;  // 128 if unsigned
} push;

void main() {
  const uint item = linearIndex();
  if (item >= push.items) return;
  const uint block = item / 4u % push.blocks, group = item / 4u / push.blocks, own = block * 4u + item % 4u;
  const uint quads = ceilDiv(push.groupInputs, 4u);
  const uint first = item / 4u * (quads * push.taps + 1u) * 4u + item % 4u;
  const uint from = (group * push.groupOutputs + own) * push.groupInputs * push.taps;
  const bool isChannel = own < push.groupOutputs;
  int sum = 0;
  uint to = first + 4u;
  for (uint c = 0u; c < push.groupInputs; c += 4u) {
    for (uint tap = 0u; tap < push.taps; ++tap) {
      uint word = 0u;
      [[unroll]] for (uint b = 0u; b < 4u; ++b)
        if (isChannel && c + b < push.groupInputs) {
          const uint bits = uint(w[from + (c + b) * push.taps + tap]) ^ push.flip;
          word |= bits << (8u * b);
          sum += int(bits << 24) >> 24;
        }
      words[to] = word;
      to += 4u;
    }
  }
  words[first] = uint(sum);
}
