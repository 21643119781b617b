// The input of integer_conv.comp as signed bytes, four channels of a group in a word: [images * groups][channels of a
// group / 4][positions]; channels beyond the group are 0. With byFours an invocation makes 4 words of neighbouring
// positions, else one. Driven by ops/integer_conv/integer_conv_vulkan.cpp.
#version 450
#include "byte_dots.glsl"
#include "common.glsl"

layout(local_size_x = 64) in;
layout(constant_id = 0) const bool byFours = false;  // the positions are a multiple of 4

layout(binding = 0) readonly buffer X { uint8_t x[]; };
layout(binding = 0) readonly buffer X4 { uint x4[]; };
layout(binding = 1) writeonly buffer Words { uint words[]; };
layout(binding = 1) writeonly buffer Words4 { uvec4 words4[]; };

layout(push_constant) uniform Push {
  uint items;  // invocations
  uint positions;
  uint groupInputs;
  uint flip;  // 128 if unsigned
} push;

void main() {
  const uint item = linearIndex();
  if (item >= push.items) return;
  const uint quads = ceilDiv(push.groupInputs, 4u), together = byFours ? 4u : 1u, spans = push.positions / together;
  const uint quad = item / spans, matrix = quad / quads, channel = quad % quads * 4u;
  const uint count = min(push.groupInputs - channel, 4u);
  const uint from = (matrix * push.groupInputs + channel) * push.positions + item % spans * together;
  if (byFours) {
    uvec4 rows = uvec4(0u);  // a channel each
    [[unroll]] for (uint c = 0u; c < 4u; ++c)
      if (c < count) rows[c] = x4[(from + c * push.positions) / 4u] ^ (push.flip * 0x01010101u);
    uvec4 columns;
    [[unroll]] for (uint p = 0u; p < 4u; ++p) columns[p] = wordOf(rows >> (8u * p) & 255u);
    words4[item] = columns;
  } else {
    uint word = 0u;
    [[unroll]] for (uint c = 0u; c < 4u; ++c)
      if (c < count) word |= (uint(x[from + c * push.positions]) ^ push.flip) << (8u * c);
    words[item] = word;
  }
}
