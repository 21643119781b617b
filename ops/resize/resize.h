// Shared by the files of Resize and Resample. Resize reads scales, sizes and regions and decomposes into Resample,
// whose parameters say where along each axis an output lies.
#pragma once

#include "engine/op/op_def.h"
#include "ops/resize/resample_generated.h"
#include "ops/resize/resize_generated.h"

namespace opkit::ops::resize {

/// A weighted sum of integers is truncated toward zero, but a sum this close below a whole number counts as that
/// number.
/// No power of two: sums of such weights would lie on it.
inline constexpr double kWholeSlack = 0.001;

/// The shape rule and the cost of Resample.
Result<std::vector<TensorDesc>> resampleRule(const ShapeArgs& args);
double resampleFlops(const ShapeArgs& args, std::span<const TensorDesc> outputs);

Status resizeReference(const OracleArgs& args);
Status resampleReference(const OracleArgs& args);

}  // namespace opkit::ops::resize
