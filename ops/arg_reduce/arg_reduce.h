// Shared by the files of ArgMax and ArgMin: the tensor seen as [outer, extent, inner].
#pragma once

#include "engine/op/op_def.h"
#include "ops/arg_reduce/arg_reduce_generated.h"

namespace opkit::ops::arg_reduce {

struct Rows {
  int64_t outer;
  int64_t extent;  // elements compared
  int64_t inner;   // distance between them
};

/// REQUIRES that the shape rule accepted the axis.
Rows rowsOf(const ArgReduceParamsT& params, const Shape& shape);

Status maxReference(const OracleArgs& args);
Status minReference(const OracleArgs& args);

}  // namespace opkit::ops::arg_reduce
