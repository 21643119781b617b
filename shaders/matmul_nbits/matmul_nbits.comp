// MatMulNBits: a team per row of a and 4 columns of y, so that an element of a meets four weights. Neighbours of a team read
// neighbouring words of the rows of weights, each with 32 / BITS codes of one block. Driven by
// ops/matmul_nbits/matmul_nbits_vulkan.cpp.
//! variant BITS: 2 4 8
#version 450
#include "storage.glsl"
#include "rows.glsl"

layout(constant_id = 3) const bool byFours = false;  // the depth is a multiple of 4

layout(binding = 0) readonly buffer A { float a[]; };
layout(binding = 0) readonly buffer A4 { vec4 a4[]; };
layout(binding = 1) readonly buffer Codes { uint codes[]; };
layout(binding = 2) readonly buffer Scales { float scales[]; };
layout(binding = 3) readonly buffer ZeroPoints { uint8_t zeroPoints[]; };
layout(binding = 4) readonly buffer Bias { float bias[]; };
layout(binding = 5) writeonly buffer Y { float y[]; };

layout(push_constant) uniform Push {
  uint teams;
  uint columns;
  uint depth;
  uint words;       // of a row of weights
  uint blockWords;  // of a block
  uint hasZeroPoints;
  uint hasBias;
} push;

TEAM_FOLD(teamSum, vec4, ROW_ADD)

const uint kMask = (1u << BITS) - 1u, kFours = 8u / BITS, kColumns = 4u;

/// Of a block; the middle of the range without zero points.
float zeroOf(uint block) {
  if (push.hasZeroPoints == 0u) return float(1u << (BITS - 1));
  const uint bit = block * BITS;
  return float(uint(zeroPoints[bit / 8u]) >> (bit % 8u) & kMask);
}

/// Elements k to k + 3 of a row of a; 0 behind its end.
vec4 fourOf(uint row, uint k) {
  const uint first = row * push.depth + k;
  if (byFours) return k < push.depth ? a4[first / 4u] : vec4(0.0);
  vec4 values = vec4(0.0);
  [[unroll]] for (uint i = 0u; i < 4u; ++i)
    if (k + i < push.depth) values[i] = a[first + i];
  return values;
}

void main() {
  const uint groups = (push.columns + kColumns - 1u) / kColumns, item = teamRow();
  const uint row = item / groups, column = item % groups * kColumns;
  const uint extent = item < push.teams ? push.words : 0u;
  vec2 sum[kColumns] = vec2[kColumns](kNoBlocks, kNoBlocks, kNoBlocks, kNoBlocks);
  vec4 part = vec4(0.0);
  // Blocks as of BLOCKS_OF_ROW, but not unrolled: copies of this body would take drivers long to compile.
  for (uint first = teamLane(); first < extent; first += kRowBlock * team) {
    for (uint i = first; i < min(extent, first + kRowBlock * team); i += team) {
      vec4 values[kFours];
      [[unroll]] for (uint q = 0u; q < kFours; ++q) values[q] = fourOf(row, (i * kFours + q) * 4u);
      [[unroll]] for (uint c = 0u; c < kColumns; ++c) {
        const uint own = min(column + c, push.columns - 1u);  // the last one in place of those beyond
        const uint block = own * (push.words / push.blockWords) + i / push.blockWords;
        const float scale = scales[block], zero = zeroOf(block);
        uint word = codes[own * push.words + i];
        [[unroll]] for (uint q = 0u; q < kFours; ++q) {
          const vec4 four = vec4(word & kMask, word >> BITS & kMask, word >> (2 * BITS) & kMask, word >> (3 * BITS) & kMask);
          part[c] += dot(values[q], (four - zero) * scale);
          if (q + 1u < kFours) word >>= 4 * BITS;
        }
      }
    }
    [[unroll]] for (uint c = 0u; c < kColumns; ++c) {
      float own = part[c];
      addBlock(sum[c], own);
    }
    part = vec4(0.0);
  }
  const vec4 total =
      teamSum(vec4(sumOfBlocks(sum[0]), sumOfBlocks(sum[1]), sumOfBlocks(sum[2]), sumOfBlocks(sum[3])));
  if (extent > 0u && teamLane() == 0u)
    [[unroll]] for (uint c = 0u; c < kColumns; ++c)
      if (column + c < push.columns)
        y[row * push.columns + column + c] = total[c] + (push.hasBias != 0u ? bias[column + c] : 0.0);
}
