// Shared by the files of MaxPool, AveragePool and their global forms.
#pragma once

#include "engine/op/op_def.h"
#include "engine/op/window.h"
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

Status maxPoolReference(const OracleArgs& args);
Status averagePoolReference(const OracleArgs& args);
Status globalMaxPoolReference(const OracleArgs& args);
Status globalAveragePoolReference(const OracleArgs& args);

}  // namespace opkit::ops::pool
