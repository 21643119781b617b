// Lays out the positions operand of gemm_tiles.comp: [image][channel][kx][row][pitch]. Every kernel column has its own
// copy, shifted, strided and padded, so that the product reads aligned vec4s and checks no bounds. Elements beyond
// the source are zero. One invocation per element. Driven by ops/gemm/gemm_tiles_vulkan.cpp.
//! variant WORD: u16 u32
#version 450
#include "common.glsl"
#include "storage.glsl"

layout(local_size_x = 64) in;

layout(binding = 0) readonly buffer X { WORD_TYPE x[]; };
layout(binding = 1) writeonly buffer Y { WORD_TYPE y[]; };

layout(push_constant) uniform Push {
  uint count;  // expanded elements
  uint pitch;  // columns of one expanded row, a multiple of 4
  uint rows;
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

void main() {
  const uint i = linearIndex();
  if (i >= push.count) return;
  const uint column = i % push.pitch;
  uint rest = i / push.pitch;
  const uint row = rest % push.rows;
  rest /= push.rows;
  const uint kx = rest % push.kernelWidth;
  rest /= push.kernelWidth;
  const uint channel = rest % push.channels;
  const uint image = rest / push.channels;
  const int iy = int(row) * push.rowStep - push.padTop;
  const int ix = int(column) * push.columnStep + int(kx) * push.dilation - push.padLeft;
  // A negative position is a huge one when seen as unsigned.
  if (uint(iy) >= push.height || uint(ix) >= push.width) {
    WORD_STORE(y, i, 0);
    return;
  }
  const uint source = push.offset + image * push.imageStride + channel * push.channelStride +
                      uint(iy) * push.rowStride + uint(ix) * push.columnStride;
  WORD_STORE(y, i, WORD_LOAD(x, source));
}
