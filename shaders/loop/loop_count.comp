// Counts the iterations of a loop: `wanted`, unless the device ends it before. The generator never gives zero, but no
// compiler can prove that, so the loop cannot be replaced by its result. Driven by
// engine/backend/vulkan/loop_limit.cpp.
#version 450

layout(local_size_x = 1) in;

layout(binding = 0) writeonly buffer Y { uint y[]; };

layout(push_constant) uniform Push {
  uint wanted;
  uint seed;  // not zero
} push;

void main() {
  const uint wanted = push.wanted;
  uint state = push.seed, made = 0;
  for (uint i = 0; i < wanted; ++i) {
    state ^= state << 13;  // Marsaglia, Xorshift RNGs (2003)
    state ^= state >> 17;
    state ^= state << 5;
    if (state == 0) break;
    ++made;
  }
  y[0] = made;
}
