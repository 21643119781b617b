// Puts codes of 4 or 2 bits, each in a byte of its own, into shared bytes: the first in the lowest bits. An invocation
// writes one byte. Driven by ops/cast/cast_vulkan.cpp.
//! variant CODE: u8 i8
#version 450
#include "common.glsl"
#include "storage.glsl"

layout(local_size_x = 64) in;

layout(binding = 0) readonly buffer X { CODE_TYPE x[]; };
layout(binding = 1) writeonly buffer Y { TYPE_U8 y[]; };

layout(push_constant) uniform Push {
  uint count;  // of codes
  uint bits;
} push;

void main() {
  const uint perByte = 8u / push.bits, first = linearIndex() * perByte;
  if (first >= push.count) return;
  const uint last = min(first + perByte, push.count);
  uint packed = 0u;
  for (uint i = first; i < last; ++i)
    packed |= (uint(CODE_LOAD(x, i)) & ((1u << push.bits) - 1u)) << ((i - first) * push.bits);
  STORE_U8(y, linearIndex(), packed);
}
