// What the parts of Cast share.
#pragma once

#include "ops/cast/cast_parts.h"

namespace opkit::ops::cast {

inline DType targetOf(const CastParamsT& params) { return static_cast<DType>(params.to); }

}  // namespace opkit::ops::cast
