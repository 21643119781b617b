// Shared by the kernels of MaxRoiPool. Plain values, thread-safe.
#pragma once

#include <algorithm>
#include <cmath>

#include "engine/tensor/tensor.h"
#include "ops/max_roi_pool/max_roi_pool_parts.h"

namespace opkit::ops::max_roi_pool {

inline constexpr int64_t kFarthest = 1 << 24;  // coordinates beyond it count as there

/// Regions of images [batches, channels, height, width], each cut into rows x columns bins.
struct RoiPlan {
  int64_t batches, channels, height, width;
  int64_t regions, rows, columns;
};
inline RoiPlan planRoi(const MaxRoiPoolParamsT& params, const Shape& x, const Shape& rois) {
  return {x[0], x[1], x[2], x[3], rois[0], params.pooled_shape[0], params.pooled_shape[1]};
}

/// The error for an image that the batch does not have, the same on every backend. NaN counts as -1.
inline Status badImage(int64_t batches, double image) {
  const auto found = std::isnan(image) ? -1 : static_cast<int64_t>(std::clamp(image, -1e9, 1e9));
  return Status::invalidArgument("MaxRoiPool: images of rois must be in [0, {}), got {}", batches, found);
}

}  // namespace opkit::ops::max_roi_pool
