// Zeroes `count` words, for tensors whose size in bytes is not a multiple of 4, as vkCmdFillBuffer requires. Driven by
// engine/backend/vulkan/command_encoder.cpp.
//! variant WORD: u8 u16
#version 450
#include "common.glsl"
#include "storage.glsl"

layout(local_size_x = 64) in;

layout(binding = 0) writeonly buffer Y { WORD_TYPE y[]; };

layout(push_constant) uniform Push { uint count; } push;

void main() {
  const uint i = linearIndex();
  if (i < push.count) WORD_STORE(y, i, 0);
}
