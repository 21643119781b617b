// Shared by the kernels of Resample: the table of taps, and how values become elements. Plain functions, thread-safe.
#pragma once

#include <limits>

#include "engine/op/taps.h"
#include "ops/resize/resize.h"

namespace opkit {
class OpRegistry;
}

namespace opkit::ops::resize {

/// The tap of an output position that lies outside the input and takes the extrapolation value.
inline constexpr int64_t kOutside = -1;

/// A tensor seen as [outer, axes..., inner]: the axes reach from the first that is resampled to the last. Those between
/// them that stay are merged, with one tap per position.
struct ResamplePlan {
  int64_t outer = 1;
  std::vector<Taps> axes;  // none of them has a tap of weight 0; an output outside has kOutside for all its taps
  int64_t inner = 1;

  int64_t outputs() const;
};

/// Whether every output position takes the input position of the same number.
bool isIdentity(const Taps& axis);

/// REQUIRES that the shape rule of Resample accepted the input.
ResamplePlan planResample(const ResampleParamsT& params, const Shape& input);

/// Weighted sums of this type are computed in double: of integers, since the rounding of a float would decide which
/// whole number a sum is below.
inline bool sumsInDouble(DType dtype) { return dtype == DType::Float64 || !isFloat(dtype); }

/// The extrapolation value as an element: of integers toward zero and within their range, of bool 0 or 1.
template <class T>
T extrapolated(float value, DType dtype) {
  if constexpr (std::is_same_v<T, Half>) return toHalf(value);
  if constexpr (std::is_floating_point_v<T>) return static_cast<T>(value);
  if constexpr (std::is_integral_v<T>) {
    if (dtype == DType::Bool) return value != 0;
    const double low = static_cast<double>(std::numeric_limits<T>::min());
    const double high = static_cast<double>(std::numeric_limits<T>::max());
    const double wide = static_cast<double>(value) + (value < 0 ? -kWholeSlack : kWholeSlack);
    return wide <= low    ? std::numeric_limits<T>::min()
           : wide >= high ? std::numeric_limits<T>::max()
                          : static_cast<T>(wide);
  }
}

void addResampleNearestCpu(OpRegistry& registry);

}  // namespace opkit::ops::resize
