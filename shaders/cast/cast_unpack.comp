// Gives codes of 4 or 2 bits a byte each; signed ones their value. An invocation reads one byte. Driven by
// ops/cast/cast_vulkan.cpp.
//! variant CODE: u8 i8
#version 450
#include "common.glsl"
#include "storage.glsl"

layout(local_size_x = 64) in;

layout(binding = 0) readonly buffer X { TYPE_U8 x[]; };
layout(binding = 1) writeonly buffer Y { CODE_TYPE y[]; };

layout(push_constant) uniform Push {
  uint count;  // of codes
  uint bits;
} push;

void main() {
  const uint perByte = 8u / push.bits, first = linearIndex() * perByte;
  if (first >= push.count) return;
  const uint last = min(first + perByte, push.count), together = LOAD_U8(x, linearIndex());
  for (uint i = first; i < last; ++i) {
    const int low = int((i - first) * push.bits), bits = int(push.bits);
#ifdef CODE_I8
    CODE_STORE(y, i, bitfieldExtract(int(together), low, bits));
#else
    CODE_STORE(y, i, bitfieldExtract(together, low, bits));
#endif
  }
}
