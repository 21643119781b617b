// Shared by the kernels of GridSample. Plain values, thread-safe.
#pragma once

#include "ops/grid_sample/grid_sample.h"

namespace opkit::ops::grid_sample {

/// Images [batch, channels, inputs], sampled at [batch, positions] places of `axes` coordinates.
struct GridPlan {
  int64_t batch = 0;
  int64_t channels = 0;
  int64_t positions = 0;
  int64_t inputs[kMaxAxes] = {1, 1, 1};  // extents, outermost first; missing ones lead and are 1
  size_t axes = 0;

  int64_t plane() const { return inputs[0] * inputs[1] * inputs[2]; }
};

/// REQUIRES that the shape rule accepted the shapes.
GridPlan planGrid(const Shape& x, const Shape& grid);

/// Elements that an output reads along one axis.
inline int64_t tapsOf(GridMode mode) { return mode == GridMode::Nearest ? 1 : mode == GridMode::Linear ? 2 : 4; }

}  // namespace opkit::ops::grid_sample
