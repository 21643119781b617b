// Sums of products for MatMul and Gemm on devices with fast shared memory: y[row, column] = alpha * sum over k of
// w[row, k] * x[k, column], plus beta * bias, for many images and groups. See product_tiles.glsl.
//
// The grid is tiles (x and y) * slices of k * images * groups (z). With one slice, results go to y; else sums go to
// partial [slice][results of y], and gemm_sum.comp adds them. Driven by ops/gemm/gemm_shared_vulkan.cpp.
//! variant STORAGE: f32 f16
//! variant BLOCK: 4 8
//! variant VECTOR: 1 4
#version 450
#include "common.glsl"
#include "storage.glsl"
#include "product_tiles.glsl"

layout(binding = 0) readonly buffer W { ELEMENT w[]; };
layout(binding = 1) readonly buffer X { ELEMENT x[]; };
layout(binding = 2) readonly buffer Bias { STORAGE bias[]; };
layout(binding = 3) readonly buffer BiasUnits { ELEMENT biasUnits[]; };  // the same, by units
layout(binding = 4) writeonly buffer Y { ELEMENT y[]; };
layout(binding = 5) writeonly buffer Partial { UNIT partial[]; };

layout(push_constant) uniform Push {
  uint rows;
  uint columns;
  uint depth;
  uint slices;
  uint sliceDepth;  // a multiple of kStep
  uint sliceStride;
  uint first;  // of this dispatch, counted in slices * images * groups
  uint groups;
  uint wBase;  // offsets and strides count elements
  uint wRow;
  uint wDepth;
  uint wImage;
  uint wGroup;
  uint xBase;
  uint xColumn;
  uint xDepth;
  uint xImage;
  uint xGroup;
  uint yBase;
  uint hasBias;
  uint biasRow;
  uint biasColumn;
  uint biasGroup;
  float alpha;
  float beta;
  float low;  // results are clamped to [low, high]
  float high;
} push;

FETCHES(fetchW, w)
FETCHES(fetchX, x)

void keepSums(uint row, uint column, UNIT sums) {
  const uint slice = (gl_WorkGroupID.z + push.first) % push.slices, matrix = (gl_WorkGroupID.z + push.first) / push.slices;
  const uint at = push.yBase + (matrix * push.rows + row) * push.columns + column;
  if (push.slices > 1u) {
    partial[(slice * push.sliceStride + at) / VECTOR] = sums;
    return;
  }
  UNIT value = push.alpha * sums;
  const uint biasAt = matrix % push.groups * push.biasGroup + row * push.biasRow + column * push.biasColumn;
  if (push.hasBias != 0u) {
    if (push.biasColumn == 0u) value += push.beta * LOAD(bias, biasAt);
    else value += push.beta * UNIT(biasUnits[biasAt / VECTOR]);
  }
  value = limited(value, push.low, push.high);
  y[at / VECTOR] = ELEMENT_OF(value);
}

void main() {
  uvec2 first;
  if (!findTile(push.rows, push.columns, first)) return;
  const uint part = gl_WorkGroupID.z + push.first;
  const uint slice = part % push.slices, matrix = part / push.slices;
  const uint image = matrix / push.groups, group = matrix % push.groups;
  const Operand ofW = Operand(push.wBase + image * push.wImage + group * push.wGroup, push.wDepth, push.wRow, first.x,
                              push.rows);
  const Operand ofX = Operand(push.xBase + image * push.xImage + group * push.xGroup, push.xDepth, push.xColumn,
                              first.y, push.columns);
  const uint begin = slice * push.sliceDepth, end = min(begin + push.sliceDepth, push.depth);

  vec4 sum[BLOCK][BLOCK / 4];
  clearSums(sum);
  UNIT nextW[kUnits], nextX[kUnits];
  fetchW(nextW, ofW, begin, end, kTileRows);
  fetchX(nextX, ofX, begin, end, kTileColumns);
  for (uint k = begin; k < end; k += kStep) {
    barrier();  // the tiles before were read
    keepW(nextW, push.wDepth == 1u, kTileRows);
    keepX(nextX, push.xDepth == 1u, kTileColumns);
    barrier();
    // In flight while the tiles are multiplied; zero behind the last.
    fetchW(nextW, ofW, k + kStep, end, kTileRows);
    fetchX(nextX, ofX, k + kStep, end, kTileColumns);
    multiplyTiles(sum);
  }
  STORE_SUMS(sum, first, push.rows, push.columns)
}
