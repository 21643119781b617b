// Unique: indices, inverse and counts from the groups of slices; behind the last group they are zero. One invocation per slice.
// Driven by ops/unique/unique_vulkan.cpp.
#version 450
#include "common.glsl"

layout(local_size_x = 64) in;
layout(constant_id = 0) const bool sorted = true;

layout(binding = 0) readonly buffer Groups { uint groups[]; };
layout(binding = 1) readonly buffer Firsts { uint firsts[]; };
layout(binding = 2) readonly buffer Starts { uint starts[]; };
layout(binding = 3) readonly buffer Numbers { uint numbers[]; };
layout(binding = 4) readonly buffer Count { uvec2 count[]; };
layout(binding = 5) writeonly buffer Indices { uvec2 indices[]; };
layout(binding = 6) writeonly buffer Inverse { uvec2 inverse[]; };
layout(binding = 7) writeonly buffer Counts { uvec2 counts[]; };

layout(push_constant) uniform Push {
  uint slices;
} push;

uint numberOf(uint group) { return sorted ? group : numbers[group]; }

void main() {
  const uint i = linearIndex();
  if (i >= push.slices) return;
  inverse[i] = uvec2(numberOf(groups[i]), 0u);
  const bool isGroup = i < count[0].x;
  const uint to = isGroup ? numberOf(i) : i;
  indices[to] = uvec2(isGroup ? firsts[i] : 0u, 0u);
  counts[to] = uvec2(isGroup ? starts[i + 1u] - starts[i] : 0u, 0u);
}
