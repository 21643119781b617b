// Packs the rows operand of gemm_tiles.comp: [matrix][tile][ky][channel][kx][TILE], rows beyond the end zero. One
// invocation per packed element; strides count elements. Driven by ops/gemm/gemm_tiles_vulkan.cpp.
//! variant WORD: u16 u32
#version 450
#include "common.glsl"
#include "storage.glsl"

layout(local_size_x = 64) in;

layout(binding = 0) readonly buffer X { WORD_TYPE x[]; };
layout(binding = 1) writeonly buffer Y { WORD_TYPE y[]; };

layout(push_constant) uniform Push {
  uint count;  // packed elements
  uint tile;
  uint tiles;  // of one matrix
  uint rows;
  uint channels;
  uint kernelHeight;
  uint kernelWidth;
  uint matrixStride;
  uint rowStride;
  uint channelStride;
  uint kernelRowStride;
  uint kernelColumnStride;
} push;

void main() {
  const uint i = linearIndex();
  if (i >= push.count) return;
  uint rest = i / push.tile;
  const uint kx = rest % push.kernelWidth;
  rest /= push.kernelWidth;
  const uint channel = rest % push.channels;
  rest /= push.channels;
  const uint ky = rest % push.kernelHeight;
  rest /= push.kernelHeight;
  const uint row = rest % push.tiles * push.tile + i % push.tile;
  const uint matrix = rest / push.tiles;
  if (row >= push.rows) {
    WORD_STORE(y, i, 0);
    return;
  }
  const uint source = matrix * push.matrixStride + row * push.rowStride + channel * push.channelStride +
                      ky * push.kernelRowStride + kx * push.kernelColumnStride;
  WORD_STORE(y, i, WORD_LOAD(x, source));
}
