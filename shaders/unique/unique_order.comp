// Unique: one step of a bitonic sort of slices, whose positions lie in `places`; slots behind them come last. One invocation per
// comparison: two slots that lie `distance` apart, in runs that go up and down by turns. Driven by
// ops/unique/unique_vulkan.cpp.
//! variant WORD: u8 u16 u32 u32x2
#version 450
#include "common.glsl"
#include "storage.glsl"

layout(local_size_x = 64) in;
layout(constant_id = 0) const uint kind = 0;
layout(constant_id = 1) const bool starts = false;  // the first step: each slot holds its own number

layout(binding = 0) readonly buffer X { WORD_TYPE x[]; };
layout(binding = 1) buffer Places { uint places[]; };

layout(push_constant) uniform Push {
  uint slots;
  uint slices;
  uint elements;  // of a slice
  uint inner;
  uint run;
  uint distance;
} push;

#include "unique_slices.glsl"

/// Whether slot contents b come before a.
bool isWrongOrder(uint a, uint b) {
  if (a >= push.slices || b >= push.slices) return b < a;
  const uint element = differenceOf(a, b);
  if (element == push.elements) return b < a;
  return isBefore(rankIn(b, element), rankIn(a, element));
}

void main() {
  const uint i = linearIndex();
  if (i >= max(push.slots / 2u, 1u)) return;
  const uint low = i / push.distance * 2u * push.distance + i % push.distance, high = low + push.distance;
  if (push.slots == 1u) {
    places[0] = 0u;
    return;
  }
  const uint first = starts ? low : places[low], second = starts ? high : places[high];
  const bool upwards = (low & push.run) == 0u, swaps = isWrongOrder(first, second) == upwards;
  if (!swaps && !starts) return;
  places[low] = swaps ? second : first;
  places[high] = swaps ? first : second;
}
