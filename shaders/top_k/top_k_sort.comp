// TopK: sorts tiles of candidates (rank, position) in shared memory by a bitonic network and writes the first `keep` of
// each. A work group sorts 1024 slots: one tile, or several of short rows. Candidates are the elements of x, which is
// [rows / inner, extent, inner], or those of an earlier dispatch; slots beyond `given` hold candidates that come last.
// Runs from firstRun to lastRun are merged; where they are longer than a tile, other dispatches did the wide steps
// (top_k_swap.comp). Driven by ops/top_k/row_sort_vulkan.cpp.
//! variant WORD: u8 u16 u32 u32x2
#version 450
#include "common.glsl"
#include "storage.glsl"

layout(local_size_x = 128) in;
layout(constant_id = 0) const uint tile = 1024;
layout(constant_id = 1) const uint kind = 0;
layout(constant_id = 2) const bool largest = true;
layout(constant_id = 3) const bool readsCandidates = false;
layout(constant_id = 4) const bool alternates = false;  // runs go up and down by their place in the row, not in the tile

#include "top_k_rank.glsl"

layout(binding = 0) readonly buffer X { WORD_TYPE x[]; };
layout(binding = 1) readonly buffer Ranks { RANK ranks[]; };
layout(binding = 2) readonly buffer Places { uint places[]; };
layout(binding = 3) writeonly buffer NewRanks { RANK newRanks[]; };
layout(binding = 4) writeonly buffer NewPlaces { uint newPlaces[]; };

layout(push_constant) uniform Push {
  uint rows;
  uint extent;
  uint inner;
  uint given;
  uint slots;  // of a row: whole tiles
  uint keep;
  uint firstRun;
  uint lastRun;
} push;

const uint kSlots = 1024;  // kTile of row_sort_vulkan.cpp

shared RANK tileRanks[kSlots];
shared uint tilePlaces[kSlots];

RANK rankAt(uint element) {
  const RANK rank = rankOf(WORD_LOAD(x, element));
  return largest ? ~rank : rank;
}

void load(uint s, uint slot) {
  const uint row = slot / push.slots, at = slot % push.slots;
  tileRanks[s] = kNoRank;
  tilePlaces[s] = kNone;
  if (row >= push.rows || at >= push.given) return;
  if (readsCandidates) {
    tileRanks[s] = ranks[row * push.given + at];
    tilePlaces[s] = places[row * push.given + at];
  } else {
    tileRanks[s] = rankAt((row / push.inner * push.extent + at) * push.inner + row % push.inner);
    tilePlaces[s] = at;
  }
}

void compare(uint pair, uint distance, uint run, uint first) {
  const uint low = pair / distance * 2u * distance + pair % distance, high = low + distance;
  const uint at = alternates ? (first + low) % push.slots : low % tile;
  const bool upwards = (at & run) == 0u;
  const RANK rank = tileRanks[low], next = tileRanks[high];
  const uint place = tilePlaces[low], nextPlace = tilePlaces[high];
  if (isWrong(rank, place, next, nextPlace) != upwards) return;
  tileRanks[low] = next;
  tileRanks[high] = rank;
  tilePlaces[low] = nextPlace;
  tilePlaces[high] = place;
}

void store(uint s, uint slot) {
  const uint row = slot / push.slots, within = s % tile;
  if (row >= push.rows || within >= push.keep) return;
  const uint to = slot / tile * push.keep + within;  // tiles lie one behind the other, rows too
  newRanks[to] = tileRanks[s];
  newPlaces[to] = tilePlaces[s];
}

void main() {
  const uint first = linearGroup() * kSlots, lane = gl_LocalInvocationIndex;
  for (uint s = lane; s < kSlots; s += gl_WorkGroupSize.x) load(s, first + s);
  for (uint run = push.firstRun; run <= push.lastRun; run *= 2u) {
    for (uint distance = min(run, tile) / 2u; distance > 0u; distance /= 2u) {
      barrier();
      for (uint pair = lane; pair < kSlots / 2u; pair += gl_WorkGroupSize.x) compare(pair, distance, run, first);
    }
  }
  barrier();
  for (uint s = lane; s < kSlots; s += gl_WorkGroupSize.x) store(s, first + s);
}
