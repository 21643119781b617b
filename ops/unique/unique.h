// Shared by the card of Unique and its kernels.
#pragma once

#include "engine/op/rows.h"
#include "ops/unique/unique_parts.h"

namespace opkit::ops::unique {

/// The slices that are compared, as the rows of [outer, extent, inner]: `extent` slices of outer * inner elements.
/// REQUIRES parameters that the shape rule accepts.
inline Rows slicesOf(const UniqueParamsT& params, const Shape& shape) {
  if (!params.axis.has_value()) return {1, elementCount(shape), 1};
  return rowsAlong(shape, *params.axis);
}

}  // namespace opkit::ops::unique
