// Models of one node with which ONNX Runtime itself is tried.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/base/status.h"
#include "engine/tensor/dtype.h"

namespace opkit::harness::ort {

/// f32[3] - f32[3]
Result<std::vector<uint8_t>> differenceModel();
/// A copy of [2] elements, of an opset of ONNX.
Result<std::vector<uint8_t>> copyModel(DType dtype, int opset);

}  // namespace opkit::harness::ort
