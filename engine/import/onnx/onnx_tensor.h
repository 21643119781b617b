// TensorProto to Tensor and back.
#pragma once

#include "engine/import/onnx/onnx_proto.h"
#include "engine/tensor/tensor.h"

namespace opkit {

class ExternalData;

/// Unsupported names the element type or storage OpKit does not handle; Corrupt when dims and data disagree. Values
/// beside the model are read from `external`; null refuses them.
Result<Tensor> tensorFrom(const onnx::TensorProto& proto, ExternalData* external = nullptr);

/// Stores elements as raw_data.
onnx::TensorProto protoFrom(const Tensor& tensor, const std::string& name);

/// The DataType number of a dtype.
int onnxNumberOf(DType dtype);

}  // namespace opkit
