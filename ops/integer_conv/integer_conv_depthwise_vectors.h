// Depthwise convolution of bytes by blocks of channels, one channel per lane, as
// ops/conv/conv_depthwise_block_vectors.h does it for floats, which hold the sums exactly.
#pragma once

#include "engine/backend/cpu/gemm/byte_gemm.h"
#include "ops/conv/conv_depthwise_block_vectors.h"

namespace opkit::ops::integer_conv {

/// Some rows of the outputs of one block.
struct ByteBlock {
  const uint8_t* image;  // the first channel's plane of inputs
  bool isSigned;
  int32_t imageZeroPoint;                            // more by 128 if the image is signed
  const float* weights;                              // [taps, lanes], 64-byte aligned: packByteChannels
  cpu::bytes::PerLine<int32_t> weightZeroPoint;      // of the channels, less 128 if the weights are unsigned
  cpu::bytes::PerLine<int32_t> bias;                 // of the channels; null for 0
  int64_t channels;                                  // 1 to depthwiseLanes()
  int64_t firstRow, endRow;                          // of the outputs
  int32_t* sums;                                     // the first channel's plane of results, or
  uint8_t* y;                                        // that of results of `requantization`
  const cpu::bytes::Requantization* requantization;  // `left` is of the channels
  float* scratch;                                    // byteBlockFloats(shape), 64-byte aligned
};

/// Of scratch memory.
int64_t byteBlockFloats(const conv::DepthwiseShape& shape);

/// Sums of (w - weightZeroPoint) * (x - imageZeroPoint) plus the bias, modulo 2^32. REQUIRES sums below 2^24 without
/// it.
void convolveByteBlock(const conv::DepthwiseShape& shape, const ByteBlock& block);

/// to[tap, lane] = w[lane, tap], unsigned ones less 128; lanes from `channels` on repeat the last one.
void packByteChannels(const uint8_t* w, bool isSigned, int64_t taps, int64_t channels, float* to);

}  // namespace opkit::ops::integer_conv
