// What the parts of Softmax share: the tensor seen as [outer, axis, inner].
#pragma once

#include "engine/op/op_def.h"
#include "ops/softmax/softmax_generated.h"

namespace opkit::ops::softmax {

struct Rows {
  int64_t outer;
  int64_t extent;  // elements normalised together
  int64_t inner;   // distance between them
};

/// REQUIRES that the shape rule accepted the axis.
Rows rowsOf(const SoftmaxParamsT& params, const Shape& shape);

Status reference(const OracleArgs& args);

}  // namespace opkit::ops::softmax
