// Shared by the files of Gather, GatherElements and GatherND.
#pragma once

#include "engine/op/op_def.h"
#include "ops/gather/gather_generated.h"
#include "ops/gather/gather_nd_generated.h"

namespace opkit::ops::gather {

/// Data seen as [outer, extent, inner]; Gather copies slices of `inner` elements.
struct GatherPlan {
  int64_t outer;
  int64_t extent;  // valid indices are [-extent, extent)
  int64_t inner;
};

/// REQUIRES that the shape rule accepted the axis.
GatherPlan planGather(const GatherParamsT& params, const Shape& data);

Status gatherReference(const OracleArgs& args);
Status gatherElementsReference(const OracleArgs& args);
Status gatherNdReference(const OracleArgs& args);

Result<LoopRegion> gatherLoop(const ShapeArgs& args, std::span<const TensorDesc> outputs);
Result<LoopRegion> gatherElementsLoop(const ShapeArgs& args, std::span<const TensorDesc> outputs);
Result<LoopRegion> gatherNdLoop(const ShapeArgs& args, std::span<const TensorDesc> outputs);

}  // namespace opkit::ops::gather
