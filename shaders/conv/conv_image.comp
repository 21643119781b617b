// Convolution of one group over NC4HW4 images, directly: no laid-out copy of the input. One invocation makes
// 4 * BLOCKS output channels of four neighbouring columns in registers.
//
// Invocations are spread over the four-column blocks of all rows of an output image (x), tiles of channels (y) and
// images (z). w holds vec4s of output channels [tile][ky][kx][input block][BLOCKS][input channel of the block], so that
// all lanes of a group read the same ones; absent channels have zero weights. Driven by ops/conv/conv_image_vulkan.cpp.
//! variant STORAGE: f32 f16
//! variant BLOCKS: 1 2 4
//! variant READ: ssbo texel
#version 450
#include "common.glsl"
#include "storage.glsl"
#include "read4.glsl"
#include "image4.glsl"

layout(local_size_x_id = 0) in;
layout(constant_id = 1) const bool padded = true;  // some taps lie outside the image

IMAGE_IN(0, x)
READ4_BUFFER(1, W, w, STORAGE4)
READ4_BUFFER(2, Bias, bias, STORAGE4)
IMAGE_OUT(3, y)

layout(push_constant) uniform Push {
  uint inputBlocks;   // of four channels
  uint outputBlocks;
  uint outputChannels;
  uint inputs[2];  // extents: rows, columns
  uint outputs[2];
  uint kernel[2];
  int stride[2];
  int dilation[2];
  int padBegin[2];
  float low;  // results are limited to [low, high]; NaN stays
  float high;
} push;

vec4 limit(vec4 value) {
  return mix(mix(value, vec4(push.low), lessThan(value, vec4(push.low))), vec4(push.high),
             greaterThan(value, vec4(push.high)));
}

void main() {
  const uint rows = push.outputs[0], columns = push.outputs[1], columns4 = ceilDiv(columns, 4u);
  const int height = int(push.inputs[0]), width = int(push.inputs[1]);
  const uint spot = gl_WorkGroupID.x * gl_WorkGroupSize.x + gl_LocalInvocationID.x;
  // Lanes beyond the end repeat the last position and store nothing, so that the loop needs no mask.
  const uint inside = min(spot, rows * columns4 - 1u);
  const uint oy = inside / columns4, ox = inside % columns4 * 4u;
  const int stepX = push.stride[1], dilationX = push.dilation[1], dilationY = push.dilation[0];
  const uint kernelY = push.kernel[0], kernelX = push.kernel[1], inputBlocks = push.inputBlocks;
  const int firstX = int(ox) * stepX - push.padBegin[1];
  const int imageRow = int(gl_WorkGroupID.z) * height;
  uint wNext = gl_WorkGroupID.y * kernelY * kernelX * inputBlocks * (BLOCKS * 4);

  vec4 sum[BLOCKS][4];
  [[unroll]] for (uint q = 0; q < BLOCKS; ++q) {
    const vec4 start = READ4(bias, gl_WorkGroupID.y * BLOCKS + q);
    [[unroll]] for (uint p = 0; p < 4; ++p) sum[q][p] = start;
  }
  int iy = int(oy) * push.stride[0] - push.padBegin[0];
  for (uint ky = 0; ky < kernelY; ++ky, iy += dilationY) {
    const bool rowInside = uint(iy) < uint(height);
    const int row = imageRow + iy;
    int ix = firstX;
    for (uint kx = 0; kx < kernelX; ++kx, ix += dilationX) {
      bool present[4];
      [[unroll]] for (uint p = 0; p < 4; ++p) present[p] = rowInside && uint(ix + int(p) * stepX) < uint(width);
      int column = ix;
      for (uint block = 0; block < inputBlocks; ++block, column += width) {
        vec4 value[4];
        [[unroll]] for (uint p = 0; p < 4; ++p) {
          value[p] = IMAGE_LOAD(x, column + int(p) * stepX, row);
          if (padded) value[p] = mix(vec4(0.0), value[p], bvec4(present[p]));
        }
        [[unroll]] for (uint q = 0; q < BLOCKS; ++q) {
          vec4 weight[4];
          [[unroll]] for (uint c = 0; c < 4; ++c) weight[c] = READ4(w, wNext + c);
          wNext += 4;
          [[unroll]] for (uint p = 0; p < 4; ++p) {
            sum[q][p] += weight[0] * value[p].x;
            sum[q][p] += weight[1] * value[p].y;
            sum[q][p] += weight[2] * value[p].z;
            sum[q][p] += weight[3] * value[p].w;
          }
        }
      }
    }
  }

  if (spot >= rows * columns4) return;
  const uint here = min(columns - ox, 4u), outputRow = gl_WorkGroupID.z * rows + oy;
  // Columns in a real loop: unrolled, the stores would make up most of the code and of the compile time.
  for (uint p = 0; p < here; ++p) {
    [[unroll]] for (uint q = 0; q < BLOCKS; ++q) {
      const uint block = gl_WorkGroupID.y * BLOCKS + q;
      const vec4 value = p < 2u ? (p == 0u ? sum[q][0] : sum[q][1]) : (p == 2u ? sum[q][2] : sum[q][3]);
      // Zero weights of absent channels times an infinite input are NaN.
      const vec4 kept = keepChannels(limit(value), push.outputChannels - block * 4u);
      if (block < push.outputBlocks) IMAGE_STORE(y, block * columns + ox + p, outputRow, kept);
    }
  }
}
