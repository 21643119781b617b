// What the parts of the pooling family share: MaxPool, AveragePool and their global forms.
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

/// InvalidArgument when the shape and parameters do not fit.
Result<PoolPlan> planPool(const PoolParamsT& params, const Shape& x);
/// The one window of the global forms, over all spatial axes seen as one.
Result<PoolPlan> planGlobalPool(const Shape& x);

/// What the mean of output (d, h, w) divides by; 1 for a window of padding alone, whose mean is 0.
int64_t meanDivisor(const WindowWalk& walk, int64_t d, int64_t h, int64_t w, bool countPadding);
/// Makes the means of planes [first, last) anew, in double, that are not finite: their sum may have overflowed in float
/// where they do not. `x` and `y` are whole tensors.
void repairMeans(const WindowWalk& walk, int64_t first, int64_t last, bool countPadding, const float* x, float* y);

Status maxPoolReference(const OracleArgs& args);
Status averagePoolReference(const OracleArgs& args);
Status globalMaxPoolReference(const OracleArgs& args);
Status globalAveragePoolReference(const OracleArgs& args);

}  // namespace opkit::ops::pool
