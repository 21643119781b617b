// Types of values that an ONNX file declares.
#pragma once

#include <optional>

#include "engine/base/status.h"
#include "engine/import/onnx/onnx_proto.h"
#include "engine/tensor/dtype.h"

namespace opkit {

/// The dtype of a value's declaration, Sequence and Optional included; nothing if it does not say. Errors as those of
/// dtypeFromOnnx; Unsupported for maps, sequences of maps and sparse tensors.
Result<std::optional<DType>> declaredType(const onnx::ValueInfoProto& info);

/// Whether the declaration is that of ZipMap's output: a sequence of maps.
bool areMaps(const onnx::ValueInfoProto& info);

/// InvalidArgument if two declarations of one value differ: by the branches of an If, or by the input and the output of
/// a body for what a Loop or Scan carries.
Status checkDeclaredTypes(const onnx::NodeProto& node);

}  // namespace opkit
