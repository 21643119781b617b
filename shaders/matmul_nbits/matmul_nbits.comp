// MatMulNBits: a team per element of y. Neighbours of a team read neighbouring words of a row of weights, each with 32 /
// BITS codes of one block. Driven by ops/matmul_nbits/matmul_nbits_vulkan.cpp.
//! variant BITS: 2 4 8
#version 450
#include "storage.glsl"
#include "rows.glsl"

layout(binding = 0) readonly buffer A { float a[]; };
layout(binding = 1) readonly buffer Codes { uint codes[]; };
layout(binding = 2) readonly buffer Scales { float scales[]; };
layout(binding = 3) readonly buffer ZeroPoints { uint8_t zeroPoints[]; };
layout(binding = 4) readonly buffer Bias { float bias[]; };
layout(binding = 5) writeonly buffer Y { float y[]; };

layout(push_constant) uniform Push {
  uint rows;  // elements of y
  uint columns;
  uint depth;
  uint words;       // of a row of weights
  uint blockWords;  // of a block
  uint hasZeroPoints;
  uint hasBias;
} push;

TEAM_FOLD(teamSum, float, ROW_ADD)

const uint kMask = (1u << BITS) - 1u, kCodes = 32u / BITS;

/// Of a block; the middle of the range without zero points.
float zeroOf(uint block) {
  if (push.hasZeroPoints == 0u) return float(1u << (BITS - 1));
  const uint bit = block * BITS;
  return float(uint(zeroPoints[bit / 8u]) >> (bit % 8u) & kMask);
}

void main() {
  const uint item = teamRow(), row = item / push.columns, column = item % push.columns;
  const uint extent = item < push.rows ? push.words : 0u;
  vec2 sum = kNoBlocks;
  float part = 0.0;
  BLOCKS_OF_ROW(i, extent)
    const uint block = column * (push.words / push.blockWords) + i / push.blockWords;
    const float scale = scales[block], zero = zeroOf(block);
    uint word = codes[column * push.words + i];
    const uint first = i * kCodes;
    for (uint j = 0u; j < kCodes && first + j < push.depth; ++j) {
      part += a[row * push.depth + first + j] * ((float(word & kMask) - zero) * scale);
      word >>= BITS;
    }
  END_OF_BLOCK
    addBlock(sum, part);
  END_OF_BLOCKS
  const float total = teamSum(sumOfBlocks(sum));
  if (extent > 0u && teamLane() == 0u) y[item] = total + (push.hasBias != 0u ? bias[column] : 0.0);
}
