// What the parts of Softmax share: the tensor seen as [outer, axis, inner].
#pragma once

#include "engine/op/op_def.h"
#include "engine/op/rows.h"
#include "ops/softmax/softmax_generated.h"

namespace opkit::ops::softmax {

/// REQUIRES that the shape rule accepted the axis.
Rows rowsOf(const SoftmaxParamsT& params, const Shape& shape);

Status reference(const OracleArgs& args);

}  // namespace opkit::ops::softmax
