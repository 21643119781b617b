// Shared by the files of MaxPool, AveragePool, LpPool and their global forms.
#pragma once

#include "engine/op/hidden.h"
#include "engine/op/op_def.h"
#include "engine/op/window.h"
#include "ops/pool/global_lp_pool_generated.h"
#include "ops/pool/pool_generated.h"

namespace opkit::ops::pool {

/// Every batch and channel is pooled by itself over the spatial axes.
struct PoolPlan {
  int64_t planes;  // batch * channels
  std::vector<WindowAxis> axes;
};

/// InvalidArgument if the shape and parameters do not fit.
Result<PoolPlan> planPool(const PoolParamsT& params, const Shape& x);
/// The one window of the global forms, over all spatial axes seen as one.
Result<PoolPlan> planGlobalPool(const Shape& x);
/// The extents of the output.
Result<Shape> poolShape(const PoolParamsT& params, const Shape& x);
/// The shape rule of the global forms.
Result<std::vector<TensorDesc>> globalShapeRule(const ShapeArgs& args);

Status maxPoolReference(const OracleArgs& args);
Status averagePoolReference(const OracleArgs& args);
Status globalMaxPoolReference(const OracleArgs& args);
Status globalAveragePoolReference(const OracleArgs& args);
Status lpPoolReference(const OracleArgs& args);
Status globalLpPoolReference(const OracleArgs& args);
/// Of MaxPool, AveragePool and LpPool.
HiddenElements hidden(const OracleArgs& args);

/// The shape rules of LpPool and GlobalLpPool, the cost of the one and the parts of the other.
Result<std::vector<TensorDesc>> normShapeRule(const ShapeArgs& args);
Result<std::vector<TensorDesc>> globalNormShapeRule(const ShapeArgs& args);
double normFlops(const ShapeArgs& args, std::span<const TensorDesc> outputs);
Status decomposeGlobalNorm(const ShapeArgs& args, std::span<const TensorDesc> outputs, Decomposition& parts);

}  // namespace opkit::ops::pool
