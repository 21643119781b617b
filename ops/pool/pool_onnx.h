// The attributes of AveragePool, for rules of other operators.
#pragma once

#include "engine/import/onnx/onnx_fields.h"
#include "ops/pool/pool_generated.h"

namespace opkit::ops::pool {

OnnxFields<PoolParamsT> averageFields();

}  // namespace opkit::ops::pool
