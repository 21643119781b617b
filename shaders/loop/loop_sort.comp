// LoopRegion's Scatter: one step of a bitonic sort of (element, item) pairs by element, in place. One invocation per
// comparison: two pairs that lie `distance` apart, in runs that go up and down by turns. Driven by
// engine/backend/vulkan/vulkan_scatter.cpp.
#version 450
#include "common.glsl"

layout(local_size_x = 64) in;

layout(binding = 0) buffer Places { uvec2 places[]; };

layout(push_constant) uniform Push {
  uint slots;
  uint run;
  uint distance;
} push;

void main() {
  const uint i = linearIndex();
  const uint low = i / push.distance * 2 * push.distance + i % push.distance, high = low + push.distance;
  if (high >= push.slots) return;
  const uvec2 a = places[low], b = places[high];
  const bool upwards = (low & push.run) == 0;
  if (a.x > b.x != upwards) return;
  places[low] = b;
  places[high] = a;
}
