// Sums of products for MatMul, Gemm and Conv: y[row, position] = alpha * sum over k of w[row, k] * x[k, position],
// plus beta * bias. One invocation makes TILE rows of four neighbouring positions; nothing is shared.
//
// x holds vec4s of positions: element (ky, k) of position (oy, ox4) lies at oy*xRow + ox4 + ky*xOuter + k*xStep. A
// matrix is the case of one output row; a convolution has k = (channel, kx) in x and walks kernel rows with ky. w is
// packed [tile][ky][k][TILE] (gemm_pack.comp or the host), so that all lanes of a group read the same vec4s. The
// grid is tiles * blocks of positions * (images * groups). Driven by ops/gemm/gemm_tiles_vulkan.cpp.
//! variant STORAGE: f32 f16
//! variant TILE: 4 8 16
//! variant READ: ssbo texel
#version 450
#include "common.glsl"
#include "storage.glsl"
#include "read4.glsl"

layout(local_size_x_id = 0) in;  // as many as run in lockstep: lanes beyond the positions are wasted

READ4_BUFFER(0, X, x, STORAGE4)
READ4_BUFFER(1, W, w, STORAGE4)
layout(binding = 2) readonly buffer Bias { STORAGE bias[]; };
layout(binding = 3) writeonly buffer Y { STORAGE y[]; };

layout(push_constant) uniform Push {
  uint rows;        // of one group
  uint depth;       // inner products
  uint outer;       // kernel rows around them
  uint width;       // positions of one output row
  uint positions4;  // vec4s of positions in all output rows
  uint firstImage;  // of this dispatch, counted in images * groups
  uint groups;
  uint xBase;  // x and w offsets and strides count vec4s
  uint wBase;
  uint yBase;
  uint xStep;
  uint xOuter;
  uint xRow;
  uint xImage;
  uint xGroup;
  uint wImage;
  uint wGroup;
  uint yStep;  // elements between rows of y
  uint yImage;
  uint yGroup;
  uint hasBias;
  uint biasRow;
  uint biasColumn;
  uint biasGroup;
  float alpha;
  float beta;
  float low;  // results are clamped to [low, high]
  float high;
} push;

void main() {
  const uint tile = gl_WorkGroupID.x;
  const uint position = gl_WorkGroupID.y * gl_WorkGroupSize.x + gl_LocalInvocationID.x;
  const uint image = (gl_WorkGroupID.z + push.firstImage) / push.groups;
  const uint group = (gl_WorkGroupID.z + push.firstImage) % push.groups;
  const uint depth = push.depth, outer = push.outer, xStep = push.xStep, xOuter = push.xOuter;
  const uint width = push.width, width4 = ceilDiv(width, 4u), positions4 = push.positions4;

  // Lanes beyond the end repeat the last position and store nothing, so that the loop needs no mask.
  const uint inside = min(position, positions4 - 1u);
  const uint oy = inside / width4, column = inside % width4 * 4u;
  uint xLine = push.xBase + image * push.xImage + group * push.xGroup + oy * push.xRow + column / 4u;
  uint wNext = push.wBase + image * push.wImage + group * push.wGroup + tile * outer * depth * (TILE / 4);

  vec4 sum[TILE];
  [[unroll]] for (uint m = 0; m < TILE; ++m) sum[m] = vec4(0.0);
  for (uint ky = 0; ky < outer; ++ky) {
    uint xNext = xLine;
    for (uint k = 0; k < depth; ++k) {
      const vec4 value = READ4(x, xNext);
      // All loads before all products: lavapipe spills fewer accumulators around them (a quarter faster).
      vec4 weight[TILE / 4];
      [[unroll]] for (uint q = 0; q < TILE / 4; ++q) weight[q] = READ4(w, wNext + q);
      [[unroll]] for (uint q = 0; q < TILE / 4; ++q) {
        sum[4 * q] += weight[q].x * value;
        sum[4 * q + 1] += weight[q].y * value;
        sum[4 * q + 2] += weight[q].z * value;
        sum[4 * q + 3] += weight[q].w * value;
      }
      wNext += TILE / 4;
      xNext += xStep;
    }
    xLine += xOuter;
  }

  if (position >= positions4) return;
  const uint rows = push.rows, columnsHere = min(width - column, 4u);
  // Columns in a real loop: unrolled, the stores would make up most of the code and of the compile time.
  for (uint e = 0; e < columnsHere; ++e) {
    const uint spot = oy * width + column + e;
    [[unroll]] for (uint m = 0; m < TILE; ++m) {
      const uint row = tile * TILE + m;
      if (row < rows) {
        const float product = e < 2 ? (e == 0 ? sum[m].x : sum[m].y) : (e == 2 ? sum[m].z : sum[m].w);
        float value = push.alpha * product;
        if (push.hasBias != 0)
          value += push.beta * LOAD(bias, group * push.biasGroup + row * push.biasRow + spot * push.biasColumn);
        value = value < push.low ? push.low : value > push.high ? push.high : value;  // a NaN stays
        STORE(y, push.yBase + image * push.yImage + group * push.yGroup + row * push.yStep + spot, value);
      }
    }
  }
}
