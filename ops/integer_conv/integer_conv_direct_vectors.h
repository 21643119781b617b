// Direct convolution of bytes for the CPU: output channels along the lanes, and a tile of neighbouring positions times
// vectors of channels in registers, as ops/conv/conv_direct_vectors.h does it for floats. An element of the image is a
// word of four channels, which one instruction multiplies with four weights of each lane (byte_gemm.h), so nothing is
// gathered or packed per tap.
//
// Words hold x as unsigned bytes, weights are signed: an offset of 128 makes them so, and a zero point takes it up.
// Sums are exact modulo 2^32, whatever the instructions, threads and tasks.
#pragma once

#include <cstdint>

#include "engine/backend/cpu/gemm/byte_gemm.h"
#include "ops/conv/direct_tasks.h"

namespace opkit::ops::integer_conv {

constexpr int64_t kWordChannels = 4;

conv::DirectTile byteTile();
/// Bytes of the packed weights of a group: panels of [depth][channels of the panel][4], then the sum of each output.
int64_t directWeightBytes(int64_t outputs, int64_t depth);
/// Packs weights [outputs, inputs, taps]. A step of the depth is [four inputs][tap]. `to` is 64-byte aligned.
void packDirectWeights(const uint8_t* weights, bool isSigned, int64_t outputs, int64_t inputs, int64_t taps,
                       uint8_t* to);
/// Of scratch, for a task of so many positions.
int64_t directScratchBytes(int64_t positions);

/// to[i] holds the bytes rows[0][i] to rows[3][i], each ^ flip. Reads nothing past a row's end.
void makeWords(const uint8_t* const (&rows)[kWordChannels], uint8_t flip, int32_t* to, int64_t count);

/// A rectangle of positions and panels of one group.
struct ByteTask {
  const int32_t* image;    // words, padded, of the group
  const int64_t* offsets;  // in `image`, of each step of the depth at position 0
  int64_t depth;           // words of input channels x taps
  int64_t runLength;       // position i reads from i / runLength * runStride + i % runLength
  int64_t runStride;
  const uint8_t* weights;  // by packDirectWeights
  int32_t zeroPoint;       // of x in words
  const int32_t* bias;     // [outputs], or null
  int64_t outputs;
  int64_t planeStride;  // output (channel c, position i) is number c * planeStride + i
  int32_t* sums;        // the outputs, or
  uint8_t* y;           // their requantisation
  cpu::bytes::Requantization requantization;
  int64_t firstPosition, endPosition;
  int64_t firstPanel, endPanel;
  uint8_t* scratch;  // directScratchBytes; 64-byte aligned
};
void convolveBytes(const ByteTask& task);

}  // namespace opkit::ops::integer_conv
