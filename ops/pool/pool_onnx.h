// The attributes of pools, for rules of other operators.
#pragma once

#include "engine/import/onnx/onnx_rules.h"

namespace opkit::ops::pool {

/// The attributes of MaxPool, AveragePool or LpPool as PoolParams, without LpPool's power.
Result<ParamBytes> poolParams(const OnnxNode& node);

}  // namespace opkit::ops::pool
