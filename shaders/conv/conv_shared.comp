// Convolution on devices with fast shared memory, as a product without a laid-out copy of the input: y[channel,
// position] = sum over k = (input channel, kernel row, kernel column) of w[channel, k] * x[k, position], where x is
// gathered from the input as it enters shared memory. See product_tiles.glsl; w and y are read and written by VECTOR.
//
// The grid is tiles (x and y) * slices of k * images * groups (z). With one slice, results go to y; else sums go to
// partial [slice][results of y], and gemm_sum.comp adds them. Driven by ops/conv/conv_shared_vulkan.cpp.
//! variant STORAGE: f32 f16
//! variant BLOCK: 4 8
//! variant VECTOR: 1 4
#version 450
#include "common.glsl"
#include "storage.glsl"
#include "product_tiles.glsl"

layout(binding = 0) readonly buffer W { ELEMENT w[]; };
layout(binding = 1) readonly buffer X { STORAGE x[]; };
layout(binding = 2) readonly buffer Bias { STORAGE bias[]; };
layout(binding = 3) writeonly buffer Y { ELEMENT y[]; };
layout(binding = 4) writeonly buffer Partial { UNIT partial[]; };

layout(push_constant) uniform Push {
  uint rows;       // output channels of a group
  uint positions;  // of an output plane
  uint depth;      // input channels of a group * taps
  uint slices;
  uint sliceDepth;  // a multiple of kStep
  uint sliceStride;
  uint first;  // of this dispatch, counted in slices * images * groups
  uint groups;
  uint groupInputs;
  uint outputWidth;
  uint inputs[2];  // extents: rows, columns
  uint kernel[2];
  int stride[2];
  int dilation[2];
  int padBegin[2];
  float perTaps;  // 1 / (kernel[0] * kernel[1])
  float perKernelWidth;
  uint hasBias;
  float low;  // results are clamped to [low, high]
  float high;
} push;

FETCHES(fetchW, w)

const uint kGathers = 8u;  // elements of x, fetched by one invocation per step

// a / b, where `inverse` is 1 / b: exact if the quotient is below 2^22.
uint divide(uint a, uint b, float inverse) {
  const uint quotient = uint(float(a) * inverse);
  const int rest = int(a - quotient * b);
  return rest < 0 ? quotient - 1u : rest >= int(b) ? quotient + 1u : quotient;
}

// An invocation gathers elements of one position.
struct Gather {
  uint base;  // of the group's channels
  bool inside;
  int row;  // of the input under the first tap
  int column;
};

void gather(out float values[kGathers], Gather from, uint k, uint end) {
  const uint height = push.inputs[0], width = push.inputs[1];
  const uint taps = push.kernel[0] * push.kernel[1], kernelWidth = push.kernel[1];
  [[unroll]] for (uint i = 0u; i < kGathers; ++i) {
    values[i] = 0.0;
    const uint step = gl_LocalInvocationIndex / kTileColumns + i * (kGroup / kTileColumns);
    if (step >= kStep || k + step >= end || !from.inside) continue;
    const uint channel = divide(k + step, taps, push.perTaps), tap = k + step - channel * taps;
    const uint ky = divide(tap, kernelWidth, push.perKernelWidth), kx = tap - ky * kernelWidth;
    const uint iy = uint(from.row + int(ky) * push.dilation[0]), ix = uint(from.column + int(kx) * push.dilation[1]);
    // As unsigned, a negative position is huge.
    if (iy < height && ix < width) values[i] = LOAD(x, from.base + (channel * height + iy) * width + ix);
  }
}

void keepGathered(float values[kGathers]) {
  const uint column = gl_LocalInvocationIndex % kTileColumns;
  [[unroll]] for (uint i = 0u; i < kGathers; ++i) {
    const uint step = gl_LocalInvocationIndex / kTileColumns + i * (kGroup / kTileColumns);
    if (step < kStep) xTile[spotOf(step, column / 4u, kTileColumns)][componentOf(step, column)] = values[i];
  }
}

void keepSums(uint row, uint column, UNIT sums) {
  const uint layer = gl_WorkGroupID.z + push.first, matrix = layer / push.slices;
  const uint at = (matrix * push.rows + row) * push.positions + column;
  if (push.slices > 1u) {
    partial[(layer % push.slices * push.sliceStride + at) / VECTOR] = sums;
    return;
  }
  if (push.hasBias != 0u) sums += LOAD(bias, matrix % push.groups * push.rows + row);
  y[at / VECTOR] = ELEMENT_OF(limited(sums, push.low, push.high));
}

void main() {
  uvec2 first;
  if (!findTile(push.rows, push.positions, first)) return;
  const uint layer = gl_WorkGroupID.z + push.first, slice = layer % push.slices, matrix = layer / push.slices;
  const Operand ofW =
      Operand(matrix % push.groups * push.rows * push.depth, 1u, push.depth, first.x, push.rows);
  const uint position = first.y + gl_LocalInvocationIndex % kTileColumns;
  const int oy = int(position / push.outputWidth), ox = int(position % push.outputWidth);
  const Gather ofX = Gather(matrix * push.groupInputs * push.inputs[0] * push.inputs[1], position < push.positions,
                            oy * push.stride[0] - push.padBegin[0], ox * push.stride[1] - push.padBegin[1]);
  const uint begin = slice * push.sliceDepth, end = min(begin + push.sliceDepth, push.depth);

  vec4 sum[BLOCK][BLOCK / 4];
  clearSums(sum);
  UNIT nextW[kUnits];
  float nextX[kGathers];
  fetchW(nextW, ofW, begin, end, kTileRows);
  gather(nextX, ofX, begin, end);
  for (uint k = begin; k < end; k += kStep) {
    barrier();  // the tiles before were read
    keepW(nextW, true, kTileRows);
    keepGathered(nextX);
    barrier();
    // In flight while the tiles are multiplied; zero behind the last.
    fetchW(nextW, ofW, k + kStep, end, kTileRows);
    gather(nextX, ofX, k + kStep, end);
    multiplyTiles(sum);
  }
  STORE_SUMS(sum, first, push.rows, push.positions)
}
