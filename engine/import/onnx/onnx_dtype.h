// ONNX TensorProto.DataType numbers and the OpKit dtypes they stand for.
#pragma once

#include <cstdint>

#include "engine/base/status.h"
#include "engine/tensor/dtype.h"

namespace opkit {

/// Unsupported names the types OpKit tensors cannot hold; InvalidArgument for a number ONNX does not define.
inline Result<DType> dtypeFromOnnx(int64_t number) {
  switch (number) {
    case 1: return DType::Float32;
    case 2: return DType::UInt8;
    case 3: return DType::Int8;
    case 4: return DType::UInt16;
    case 5: return DType::Int16;
    case 6: return DType::Int32;
    case 7: return DType::Int64;
    case 8: return Status::unsupported("ONNX type string: OpKit tensors hold numbers and bool only");
    case 9: return DType::Bool;
    case 10: return DType::Float16;
    case 11: return DType::Float64;
    case 12: return DType::UInt32;
    case 13: return DType::UInt64;
    case 14:
    case 15: return Status::unsupported("ONNX complex types: OpKit tensors hold real numbers only");
    case 16: return Status::unsupported("ONNX type bfloat16: not a tensor type of OpKit");
    case 17:
    case 18:
    case 19:
    case 20: return Status::unsupported("ONNX 8-bit float types: not tensor types of OpKit");
    case 21:
    case 22: return Status::unsupported("ONNX 4-bit integer types: not tensor types of OpKit");
    default: return Status::invalidArgument("ONNX type number must be in [1, 22], got {}", number);
  }
}

}  // namespace opkit
