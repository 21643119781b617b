// MatMulInteger (Y: i32) and QLinearMatMul (u8, for both signs): an invocation computes 4 rows x 4 columns of one
// product. FORM words and dots, which need a depth and columns that are multiples of 4, load four bytes at once and
// multiply words of four neighbours of the depth, dots by the device's instruction; FORM bytes loads each alone, and those
// outside the matrices as others within. With all bytes signed,
//
//   sum (a - za)(b - zb) = sum ab - za * sum b - zb * sum a + depth * za * zb
//
// Driven by ops/integer_matmul/integer_matmul_vulkan.cpp.
//! variant Y: i32 u8
//! variant FORM: bytes words dots
#version 450
#include "byte_dots.glsl"
#include "common.glsl"
#include "storage.glsl"
#include "requantize.glsl"

layout(local_size_x = 64) in;

#ifdef FORM_BYTES
layout(binding = 0) readonly buffer A { uint8_t a[]; };
layout(binding = 1) readonly buffer B { uint8_t b[]; };
#else
layout(binding = 0) readonly buffer A { uint a[]; };
layout(binding = 1) readonly buffer B { uint b[]; };
#endif
layout(binding = 2) readonly buffer AZeroPoint { uint8_t aZeroPoint[]; };
layout(binding = 3) readonly buffer BZeroPoint { uint8_t bZeroPoint[]; };
layout(binding = 4) readonly buffer Matrices { uint matrices[]; };  // of a and b, for each product
layout(binding = 5) readonly buffer AScale { float aScale[]; };
layout(binding = 6) readonly buffer BScale { float bScale[]; };
layout(binding = 7) readonly buffer YScale { float yScale[]; };
layout(binding = 8) readonly buffer YZeroPoint { uint8_t yZeroPoint[]; };
layout(binding = 9) writeonly buffer Y { Y_TYPE y[]; };

layout(push_constant) uniform Push {
  uint rows;
  uint columns;
  uint depth;
  uint products;
  uint aFlip;  // 128 if unsigned
  uint bFlip;
  uint yFlip;  // 128 if signed
  uint hasAZeroPoint;
  uint hasBZeroPoint;
  uint aZeroSteps[2];  // between matrices, between rows
  uint bZeroSteps[2];  // between matrices, between columns
  uint aScaleSteps[2];
  uint bScaleSteps[2];
} push;

void main() {
  const uint columnTiles = ceilDiv(push.columns, 4u), rowTiles = ceilDiv(push.rows, 4u);
  const uint item = linearIndex(), product = item / (columnTiles * rowTiles);
  if (product >= push.products) return;
  const uint column = item % columnTiles * 4u, row = item / columnTiles % rowTiles * 4u, depth = push.depth;
  const uint aMatrix = matrices[2u * product], bMatrix = matrices[2u * product + 1u];
  uvec4 rows, columns;  // those of the tile, the last one in place of those outside
  [[unroll]] for (uint i = 0u; i < 4u; ++i) {
    rows[i] = min(row + i, push.rows - 1u);
    columns[i] = min(column + i, push.columns - 1u);
  }
  ivec4 aZero = ivec4(SIGNED_BYTE(0u, push.aFlip)), bZero = ivec4(SIGNED_BYTE(0u, push.bFlip));
  if (push.hasAZeroPoint != 0u) {
    const uint at = aMatrix * push.aZeroSteps[0];
    [[unroll]] for (uint i = 0u; i < 4u; ++i)
      aZero[i] = SIGNED_BYTE(aZeroPoint[at + rows[i] * push.aZeroSteps[1]], push.aFlip);
  }
  if (push.hasBZeroPoint != 0u) {
    const uint at = bMatrix * push.bZeroSteps[0];
    [[unroll]] for (uint i = 0u; i < 4u; ++i)
      bZero[i] = SIGNED_BYTE(bZeroPoint[at + columns[i] * push.bZeroSteps[1]], push.bFlip);
  }

  ivec4 sum[4] = ivec4[4](ivec4(0), ivec4(0), ivec4(0), ivec4(0));
  const uvec4 aRows = (aMatrix * push.rows + rows) * depth;
  const uint bFirst = bMatrix * depth * push.columns;
#ifdef FORM_BYTES
  for (uint k = 0u; k < depth; ++k) {
    ivec4 right;
    [[unroll]] for (uint j = 0u; j < 4u; ++j)
      right[j] = SIGNED_BYTE(b[bFirst + k * push.columns + columns[j]], push.bFlip) - bZero[j];
    [[unroll]] for (uint i = 0u; i < 4u; ++i) sum[i] += (SIGNED_BYTE(a[aRows[i] + k], push.aFlip) - aZero[i]) * right;
  }
#else
  const uint aFlips = push.aFlip * 0x01010101u, bFlips = push.bFlip * 0x01010101u;
  ivec4 aSum = ivec4(0), bSum = ivec4(0);  // of rows of A, of columns of B
  for (uint k = 0u; k < depth; k += 4u) {
    uvec4 neighbours;  // of a depth each
    [[unroll]] for (uint j = 0u; j < 4u; ++j)
      neighbours[j] = b[(bFirst + (k + j) * push.columns + column) / 4u] ^ bFlips;
    uvec4 right;  // of a column each
    [[unroll]] for (uint j = 0u; j < 4u; ++j) {
      right[j] = wordOf(neighbours >> (8u * j) & 255u);
      bSum[j] += dotBytes(right[j], 0x01010101u);
    }
    [[unroll]] for (uint i = 0u; i < 4u; ++i) {
      const uint left = a[(aRows[i] + k) / 4u] ^ aFlips;
      aSum[i] += dotBytes(left, 0x01010101u);
      [[unroll]] for (uint j = 0u; j < 4u; ++j) sum[i][j] += dotBytes(left, right[j]);
    }
  }
  [[unroll]] for (uint i = 0u; i < 4u; ++i)
    sum[i] += int(depth) * aZero[i] * bZero - aZero[i] * bSum - bZero * aSum[i];
#endif

  // Loops: sixteen copies of a requantisation would take drivers long to compile.
  [[dont_unroll]] for (uint i = 0u; i < 4u; ++i) {
    if (row + i >= push.rows) return;
    const uint to = (product * push.rows + row + i) * push.columns + column;
    ivec4 sums = sum[0];
    [[dont_unroll]] for (uint j = 0u; j < 4u; ++j) {
      if (column + j >= push.columns) break;
      const int own = sums.x;
      sums = sums.yzwx;
#ifdef Y_I32
      Y_STORE(y, to + j, own);
#else
      Y_STORE(y, to + j, requantized(own, aScale[aMatrix * push.aScaleSteps[0] + (row + i) * push.aScaleSteps[1]],
                                     bScale[bMatrix * push.bScaleSteps[0] + (column + j) * push.bScaleSteps[1]],
                                     yScale[0], uint(yZeroPoint[0]), push.yFlip));
#endif
    }
    [[unroll]] for (uint k = 0u; k < 3u; ++k) sum[k] = sum[k + 1u];  // registers have no addresses
  }
}
