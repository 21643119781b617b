// LoopRegion's Scatter: the steps of a bitonic sort of (block, item) pairs by block that stay inside tiles of 1024 pairs,
// in shared memory, in place. One work group per tile. Runs from firstRun to lastRun are merged; where they are longer
// than a tile, loop_sort.comp did the wide steps. Driven by engine/backend/vulkan/vulkan_scatter.cpp.
#version 450
#include "common.glsl"

layout(local_size_x = 128) in;

layout(binding = 0) buffer Places { uvec2 places[]; };

layout(push_constant) uniform Push {
  uint slots;
  uint firstRun;
  uint lastRun;
} push;

const uint kTile = 1024;  // of vulkan_scatter.cpp

shared uvec2 pairs[kTile];

void compare(uint pair, uint distance, uint run, uint first) {
  const uint low = pair / distance * 2u * distance + pair % distance, high = low + distance;
  const uvec2 a = pairs[low], b = pairs[high];
  const bool upwards = ((first + low) & run) == 0u;
  if (a.x > b.x != upwards) return;
  pairs[low] = b;
  pairs[high] = a;
}

void main() {
  const uint first = linearGroup() * kTile, count = min(kTile, push.slots), lane = gl_LocalInvocationIndex;
  if (first >= push.slots) return;
  for (uint s = lane; s < count; s += gl_WorkGroupSize.x) pairs[s] = places[first + s];
  for (uint run = push.firstRun; run <= push.lastRun; run *= 2u) {
    for (uint distance = min(run, kTile) / 2u; distance > 0u; distance /= 2u) {
      barrier();
      for (uint pair = lane; pair < count / 2u; pair += gl_WorkGroupSize.x) compare(pair, distance, run, first);
    }
  }
  barrier();
  for (uint s = lane; s < count; s += gl_WorkGroupSize.x) places[first + s] = pairs[s];
}
