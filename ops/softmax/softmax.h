// Shared by the files of Softmax: the tensor seen as [outer, axis, inner].
#pragma once

#include "engine/op/rows.h"
#include "ops/softmax/softmax_parts.h"

namespace opkit::ops::softmax {

/// REQUIRES that the shape rule accepted the axis.
Rows rowsOf(const SoftmaxParamsT& params, const Shape& shape);

}  // namespace opkit::ops::softmax
