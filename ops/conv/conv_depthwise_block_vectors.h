// Depthwise convolution by blocks of channels, one channel per lane: the inner loops of the CPU kernel, per instruction
// set.
//
// Planes are transposed to [position, channel] on their way in and back on their way out, so vectors are full at any
// width of the map, stride, dilation and window.
#pragma once

#include "engine/op/window.h"

namespace opkit::ops::conv {

/// Channels of a block: the lanes of a vector of this processor.
int64_t depthwiseLanes();

/// Rows of the highest window.
inline constexpr int64_t kMaxDepthwiseRows = 64;

/// What all blocks of a convolution have in common.
class DepthwiseShape {
 public:
  DepthwiseShape() = default;
  /// REQUIRES kernels of at most kMaxDepthwiseRows rows, and outputs.
  DepthwiseShape(const WindowAxis& height, const WindowAxis& width);

  const WindowAxis& height() const { return height_; }
  const WindowAxis& width() const { return width_; }
  int64_t lanes() const { return lanes_; }  // channels of a block
  int64_t taps() const { return height_.kernel * width_.kernel; }
  /// Floats of a stored row: the columns that windows cover, padding included.
  int64_t rowFloats() const { return storedColumns_ * lanes_; }
  /// Input rows that are stored at a time: row y is in slot y % slots().
  int64_t slots() const { return slots_; }
  /// Rows of outputs that are summed before they are transposed back.
  int64_t stripRows() const { return stripRows_; }
  /// Floats of scratch that a block needs: a row of zeros, the slots and a strip of outputs.
  int64_t scratchFloats() const { return (1 + slots_) * rowFloats() + stripRows_ * width_.output * lanes_; }

 private:
  WindowAxis height_{};
  WindowAxis width_{};
  int64_t lanes_ = 0;
  int64_t storedColumns_ = 0;
  int64_t slots_ = 0;
  int64_t stripRows_ = 0;
};

/// Some rows of the outputs of one block.
struct DepthwiseBlock {
  const float* image;    // the first channel's plane of inputs
  const float* weights;  // [taps, lanes], 64-byte aligned
  const float* bias;     // of the first channel; null for 0
  float* output;         // the first channel's plane
  int64_t channels;      // 1 to depthwiseLanes()
  int64_t firstRow;      // of the outputs
  int64_t endRow;
  float low;  // sums are clamped to [low, high]
  float high;
  float* scratch;  // DepthwiseShape::scratchFloats(), 64-byte aligned
};

/// Adds the taps of each output in order to the bias, then clamps.
void convolveBlock(const DepthwiseShape& shape, const DepthwiseBlock& block);

/// to[position, lane] = from[lane, position]; lanes from `channels` on hold copies of others.
void packChannels(const float* from, int64_t positions, int64_t channels, float* to);

}  // namespace opkit::ops::conv
