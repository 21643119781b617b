// Shared by the files of LRN: the tensor seen as [batch, channels, inner] and the window over channels.
#pragma once

#include "ops/lrn/lrn_parts.h"

namespace opkit::ops::lrn {

struct LrnPlan {
  int64_t batch;
  int64_t channels;
  int64_t inner;
  int64_t before;  // channels of the window before its own
  int64_t after;   // and after it
};

/// REQUIRES that the shape rule accepted the parameters.
LrnPlan planLrn(const LrnParamsT& params, const Shape& x);

}  // namespace opkit::ops::lrn
