// TopK: one wide step of a bitonic sort of candidates (rank, position) in rows of `slots`, a power of two, in place. One
// invocation per comparison: two candidates that lie `distance` apart, in runs that go up and down by turns. Driven by
// ops/top_k/row_sort_vulkan.cpp.
//! variant WORD: u32 u32x2
#version 450
#include "common.glsl"
#include "storage.glsl"
#define RANKS_ALONE
#include "top_k_rank.glsl"

layout(local_size_x = 64) in;

layout(binding = 0) buffer Ranks { RANK ranks[]; };
layout(binding = 1) buffer Places { uint places[]; };

layout(push_constant) uniform Push {
  uint pairs;
  uint slots;
  uint run;
  uint distance;
} push;

void main() {
  const uint i = linearIndex();
  if (i >= push.pairs) return;
  const uint low = i / push.distance * 2u * push.distance + i % push.distance, high = low + push.distance;
  const RANK rank = ranks[low], next = ranks[high];
  const uint place = places[low], nextPlace = places[high];
  const bool upwards = (low % push.slots & push.run) == 0u;
  if (isWrong(rank, place, next, nextPlace) != upwards) return;
  ranks[low] = next;
  ranks[high] = rank;
  places[low] = nextPlace;
  places[high] = place;
}
