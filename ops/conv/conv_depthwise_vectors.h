// The inner loops of the depthwise CPU kernel, per instruction set.
#pragma once

#include <cstdint>

namespace opkit::ops::conv {

/// One output channel. Reads up to kDepthwiseSlack floats past the last element it needs.
struct DepthwisePlane {
  const float* image;         // a plane of PaddedImage
  const int64_t* tapOffsets;  // PaddedImage::tapOffset of each tap
  const float* weights;       // one per tap
  int64_t taps;
  int64_t rowStride;  // PaddedImage::outputRowStride
  float bias;
  float low;  // sums are clamped to [low, high]
  float high;
  float* output;  // [rows, columns]
  int64_t rows;
  int64_t columns;
};
inline constexpr int64_t kDepthwiseSlack = 128;

/// Sums the taps in order, then adds the bias and clamps.
void computeDepthwise(const DepthwisePlane& plane);

}  // namespace opkit::ops::conv
