// The places that coordinates of GridSample name along one axis, on the CPU. Compiled once per instruction set and
// chosen at run time; every operation is rounded by itself, as in the oracle. Pure functions, thread-safe.
#pragma once

#include "ops/grid_sample/grid_sample.h"

namespace opkit::ops::grid_sample {

/// How coordinates become places of an axis of `extent` elements.
struct PlaceRule {
  GridMode mode;
  GridPadding padding;
  bool alignCorners;
  int64_t extent;
};

/// places[i] is where coordinate `coordinates[i * step]` lies among the elements, after the padding rule, within 3 of
/// the axis; below[i] is the element before it, or with Nearest the nearest one.
void findPlaces(const PlaceRule& rule, const float* coordinates, int64_t step, int64_t count, float* places,
                float* below);
void findPlaces(const PlaceRule& rule, const double* coordinates, int64_t step, int64_t count, double* places,
                double* below);

}  // namespace opkit::ops::grid_sample
