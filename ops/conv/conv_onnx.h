// The attributes of operators that have Conv's.
#pragma once

#include "engine/import/onnx/onnx_fields.h"
#include "ops/conv/conv_generated.h"

namespace opkit::ops::conv {

const OnnxFields<ConvParamsT>& convFields();

}  // namespace opkit::ops::conv
