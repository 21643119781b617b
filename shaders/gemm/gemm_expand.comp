// Stores the positions operand of gemm_tiles.comp as [image][channel][kx][row][pitch]. Every kernel column has its own
// copy, shifted, strided and padded, so that the product reads aligned vec4s and checks no bounds. Elements beyond the
// source are zero. The grid is columns * rows * planes (images * channels), so that no invocation divides to find its
// place; if the grid is too small, groups step over the rest. Driven by ops/gemm/gemm_tiles_vulkan.cpp.
//! variant WORD: u16 u32
#version 450
#include "common.glsl"
#include "storage.glsl"

layout(local_size_x_id = 0) in;

layout(binding = 0) readonly buffer X { WORD_TYPE x[]; };
layout(binding = 1) writeonly buffer Y { WORD_TYPE y[]; };

layout(push_constant) uniform Push {
  uint planes;
  uint rows;
  uint pitch;  // columns of one expanded row, a multiple of 4
  uint kernelWidth;
  uint channels;
  uint height;  // of the source
  uint width;
  uint offset;  // strides and offset of the source, in elements
  uint imageStride;
  uint channelStride;
  uint rowStride;
  uint columnStride;
  int rowStep;
  int columnStep;
  int dilation;
  int padTop;
  int padLeft;
} push;

// All kernel columns of one element of a row.
void expand(uint plane, uint row, uint column) {
  const uint kernelWidth = push.kernelWidth, pitch = push.pitch, planeWords = push.rows * pitch;
  const int iy = int(row) * push.rowStep - push.padTop;
  const uint source = push.offset + plane / push.channels * push.imageStride +
                      plane % push.channels * push.channelStride + uint(iy) * push.rowStride;
  uint target = plane * kernelWidth * planeWords + row * pitch + column;
  int ix = int(column) * push.columnStep - push.padLeft;
  for (uint kx = 0; kx < kernelWidth; ++kx) {
    // As unsigned, a negative position is huge.
    if (uint(iy) < push.height && uint(ix) < push.width)
      WORD_STORE(y, target, WORD_LOAD(x, source + uint(ix) * push.columnStride));
    else
      WORD_STORE(y, target, 0);
    target += planeWords;
    ix += push.dilation;
  }
}

void main() {
  const uint column = gl_WorkGroupID.x * gl_WorkGroupSize.x + gl_LocalInvocationID.x;
  if (column >= push.pitch) return;
  for (uint plane = gl_WorkGroupID.z; plane < push.planes; plane += gl_NumWorkGroups.z)
    for (uint row = gl_WorkGroupID.y; row < push.rows; row += gl_NumWorkGroups.y) expand(plane, row, column);
}
