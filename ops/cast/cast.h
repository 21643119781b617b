// Shared by the card of Cast and its kernels.
#pragma once

#include <cmath>
#include <limits>

#include "ops/cast/cast_parts.h"

namespace opkit::ops::cast {

inline DType targetOf(const CastParamsT& params) { return static_cast<DType>(params.to); }

/// Truncates towards zero; NaN gives 0; values beyond 64 bits give the nearest limit. Narrower types take the low bits.
/// If the target is uint64, the result holds its bits.
inline int64_t truncated(double value, bool toUInt64) {
  if (std::isnan(value)) return 0;
  if (toUInt64 && value >= 0x1p63)
    return static_cast<int64_t>(value >= 0x1p64 ? ~uint64_t{0} : static_cast<uint64_t>(value));
  if (value >= 0x1p63) return std::numeric_limits<int64_t>::max();
  if (value < -0x1p63) return std::numeric_limits<int64_t>::min();
  return static_cast<int64_t>(value);
}

}  // namespace opkit::ops::cast
