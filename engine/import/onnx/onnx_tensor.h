// TensorProto to Tensor and back.
#pragma once

#include "engine/import/onnx/onnx_dtype.h"
#include "engine/import/onnx/onnx_proto.h"
#include "engine/tensor/tensor.h"

namespace opkit {

class ExternalData;

/// Unsupported names the element type or storage OpKit does not handle; Corrupt when dims and data disagree. Values
/// beside the model are read from `external`; null refuses them.
Result<Tensor> tensorFrom(const onnx::TensorProto& proto, ExternalData* external = nullptr);

/// The dense form: zero where no index points. Corrupt: indices that are not i64, not [n] or [n, rank] for n values,
/// outside the dims, or not in ascending order.
Result<Tensor> tensorFrom(const onnx::SparseTensorProto& proto, ExternalData* external = nullptr);

/// Stores elements as raw_data.
onnx::TensorProto protoFrom(const Tensor& tensor, const std::string& name);

}  // namespace opkit
