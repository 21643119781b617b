// Shared by the kernels of RoiAlign. Plain values, thread-safe.
#pragma once

#include "engine/tensor/tensor.h"
#include "ops/roi_align/roi_align_parts.h"

namespace opkit::ops::roi_align {

inline constexpr int64_t kMostSamples = 1024;  // of a bin along an axis

/// Regions of images [batches, channels, height, width], each cut into rows x columns bins.
struct RoiPlan {
  int64_t batches = 0;
  int64_t channels = 0;
  int64_t height = 0;
  int64_t width = 0;
  int64_t regions = 0;
  int64_t rows = 0;
  int64_t columns = 0;

  int64_t plane() const { return height * width; }
  int64_t bins() const { return rows * columns; }
};

/// REQUIRES that the shape rule accepted the shapes.
RoiPlan planRoi(const RoiAlignParamsT& params, const Shape& x, const Shape& rois);

/// The error for an image that the batch does not have, the same on every backend.
Status badImage(int64_t batches, int64_t found);

}  // namespace opkit::ops::roi_align
