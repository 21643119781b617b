// Columns of indices of the elements that are not zero, in order, then columns of zeros. One dispatch counts each part
// of the tensor, a second one writes: a team sums the counts of the parts before its own and walks its part tile by tile.
// Words are the elements' bits; `mask` leaves out the sign of floats. Driven by ops/non_zero/non_zero_vulkan.cpp.
//! variant WORD: u8 u16 u32 u32x2
#version 450
#include "storage.glsl"
#include "rows.glsl"

layout(constant_id = 3) const uint stage = 0;  // kCount or kWrite

layout(binding = 0) readonly buffer X { WORD_TYPE x[]; };
layout(binding = 1) readonly buffer ShapeTable { uint shape[]; };  // [rank]
layout(binding = 2) buffer Counts { uint counts[]; };              // [parts]
layout(binding = 3) writeonly buffer Indices { uvec2 indices[]; };  // i64[rank, elements]
layout(binding = 4) writeonly buffer Count { uvec2 count[]; };      // i64[1]

layout(push_constant) uniform Push {
  uint elements;
  uint parts;
  uint partLength;
  uint rank;
  uint mask;  // of an element's highest word
} push;

const uint kCount = 0;
const uint kRun = 5;  // elements of an invocation in a tile; odd, so that neighbours' runs begin in different banks

const uint kKept = 16;  // extents in shared memory; ranks beyond are read from the table

shared uint tile[gl_WorkGroupSize.x * kRun];  // flags, then column * 2 + flag
shared uint extents[kKept];

uint plus(uint a, uint b) { return a + b; }
uvec2 plus(uvec2 a, uvec2 b) { return a + b; }
TEAM_FOLD(teamSums, uvec2, plus)
TEAM_SCAN(teamBefore, uint, plus, 0u)

bool isNonZero(uint i) {
#ifdef WORD_U32X2
  return (x[i].x | (x[i].y & push.mask)) != 0u;
#else
  return (WORD_LOAD(x, i) & push.mask) != 0u;
#endif
}

void writeColumn(uint column, uint element, bool isUsed) {
  for (uint d = push.rank; d > 0u; --d) {
    const uint extent = d <= kKept ? extents[d - 1u] : shape[d - 1u];
    indices[(d - 1u) * push.elements + column] = uvec2(isUsed ? element % extent : 0u, 0u);
    element /= extent;
  }
}

void countPart(uint part, uint first, uint end) {
  uint own = 0u;
  EACH_OF_ROW(i, end - first) own += isNonZero(first + i) ? 1u : 0u; END_OF_ROW
  const uint sum = teamSums(uvec2(own, 0u)).x;
  if (teamLane() == 0u && part < push.parts) counts[part] = sum;
}

void writePart(uint part, uint first, uint end) {
  uvec2 sums = uvec2(0u);  // of the parts before this one, of all
  EACH_OF_ROW(i, push.parts) sums += uvec2(i < part ? counts[i] : 0u, counts[i]); END_OF_ROW
  sums = teamSums(sums);
  const uint lane = teamLane(), base = (gl_LocalInvocationIndex - lane) * kRun, run = base + lane * kRun;
  if (part == 0u && lane == 0u) count[0] = uvec2(sums.y, 0u);
  if (gl_LocalInvocationIndex < min(push.rank, kKept)) extents[gl_LocalInvocationIndex] = shape[gl_LocalInvocationIndex];
  uint column = sums.x;
  for (uint at = 0u; at < push.partLength; at += kRun * team) {
    barrier();  // the tile before was read
    [[unroll]] for (uint k = 0u; k < kRun; ++k) {
      const uint i = first + at + k * team + lane;
      tile[base + k * team + lane] = i < end && isNonZero(i) ? 1u : 0u;
    }
    barrier();
    uint own = 0u, all;
    [[unroll]] for (uint k = 0u; k < kRun; ++k) own += tile[run + k];
    uint next = column + teamBefore(own, all);
    column += all;
    [[unroll]] for (uint k = 0u; k < kRun; ++k) {
      const uint flag = tile[run + k];
      tile[run + k] = next << 1 | flag;
      next += flag;
    }
    barrier();
    [[unroll]] for (uint k = 0u; k < kRun; ++k) {
      const uint i = first + at + k * team + lane, word = tile[base + k * team + lane];
      if ((word & 1u) != 0u) writeColumn(word >> 1, i, true);
      if (i < end && i >= sums.y) writeColumn(i, 0u, false);
    }
  }
}

void main() {
  const uint part = teamRow(), first = min(part * push.partLength, push.elements);
  const uint end = min(first + push.partLength, push.elements);
  if (stage == kCount) {
    countPart(part, first, end);
  } else {
    writePart(part, first, end);
  }
}
