// The division of LRN by vectors.
#pragma once

#include <cstdint>

#include "ops/lrn/lrn_parts.h"

namespace opkit::ops::lrn {

/// y = x / (bias + alpha / size * squares)^beta; y may be x. The power is computed in double.
void normaliseVectors(const float* x, const double* squares, float* y, int64_t count, const LrnParamsT& params);

}  // namespace opkit::ops::lrn
