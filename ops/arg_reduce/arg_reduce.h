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

template <class T>
bool isNan(T x) {
  return x != x;
}

/// True if `x` replaces `best`: NaN beats everything and the first NaN stays, as in NumPy.
template <class T>
bool replaces(T x, T best, bool smallest, bool last) {
  if (isNan(best)) return last && isNan(x);
  if (isNan(x)) return true;
  return (smallest ? x < best : x > best) || (last && x == best);
}

Status maxReference(const OracleArgs& args);
Status minReference(const OracleArgs& args);

}  // namespace opkit::ops::arg_reduce
