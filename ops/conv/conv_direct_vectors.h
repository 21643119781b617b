// Direct convolution for the CPU: output channels along the lanes, and a tile of neighbouring positions times vectors
// of channels in registers. Each step broadcasts one element of the padded image per position, so nothing is gathered
// or packed at run time. Weights are packed once.
//
// Every output is summed in the order of (input channel, tap), from 0, then the bias is added: the order of the matrix
// product (gemm.h), with the same result and the same bound.
#pragma once

#include <cstdint>

#include "ops/conv/direct_tasks.h"

namespace opkit::ops::conv {

DirectTile directTile();

/// Vectors of output channels are cut into panels of at most the tile's; each panel is summed by itself.
int64_t directPanels(int64_t outputs);
/// Floats that packDirect writes.
int64_t directWeightFloats(int64_t outputs, int64_t depth);
/// Packs weights [outputs, depth] to panels of [depth][channels of the panel], the last one padded with zeros. `to` is
/// 64-byte aligned.
void packDirect(const float* weights, int64_t outputs, int64_t depth, float* to);
/// Of scratch, for a task of so many positions.
int64_t directScratchFloats(int64_t positions);

/// A rectangle of positions and panels of one group.
struct DirectTask {
  const float* image;      // padded, of the group
  const int64_t* offsets;  // in `image`, of each step of the depth at position 0
  int64_t depth;           // input channels x taps
  int64_t runLength;       // position i reads from i / runLength * runStride + i % runLength
  int64_t runStride;
  const float* weights;  // by packDirect
  const float* bias;     // [outputs], or null
  int64_t outputs;
  float* to;  // output (channel c, position i) is to[c * planeStride + i]
  int64_t planeStride;
  float low;
  float high;
  int64_t firstPosition, endPosition;
  int64_t firstPanel, endPanel;
  float* scratch;  // directScratchFloats; 64-byte aligned
};
void convolveDirect(const DirectTask& task);

}  // namespace opkit::ops::conv
