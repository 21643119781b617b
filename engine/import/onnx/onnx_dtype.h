// ONNX TensorProto.DataType numbers and the OpKit dtypes they stand for.
#pragma once

#include <cstdint>
#include <iterator>

#include "engine/base/status.h"
#include "engine/tensor/dtype.h"

namespace opkit {

/// Unsupported names a type that OpKit tensors cannot hold, or gives its number if it is newer than this list;
/// InvalidArgument for a number that is no type in any version.
inline Result<DType> dtypeFromOnnx(int64_t number) {
  switch (number) {
    case 1: return DType::Float32;
    case 2: return DType::UInt8;
    case 3: return DType::Int8;
    case 4: return DType::UInt16;
    case 5: return DType::Int16;
    case 6: return DType::Int32;
    case 7: return DType::Int64;
    case 9: return DType::Bool;
    case 10: return DType::Float16;
    case 11: return DType::Float64;
    case 12: return DType::UInt32;
    case 13: return DType::UInt64;
    default: break;
  }
  if (number == 8) return Status::unsupported("ONNX type string: OpKit tensors hold numbers and bool only");
  constexpr int64_t kFirstOther = 14;  // the preceding numbers are above
  constexpr const char* kOthers[] = {"complex64",  "complex128",     "bfloat16", "float8e4m3fn", "float8e4m3fnuz",
                                     "float8e5m2", "float8e5m2fnuz", "uint4",    "int4",         "float4e2m1",
                                     "float8e8m0", "uint2",          "int2"};
  if (number <= 0) return Status::invalidArgument("ONNX type number must be 1 or more, got {}", number);
  const auto other = static_cast<size_t>(number - kFirstOther);
  if (other < std::size(kOthers))
    return Status::unsupported("ONNX type {}: not a tensor type of OpKit", kOthers[other]);
  return Status::unsupported("ONNX type number {}: newer than this build, which knows those up to {}", number,
                             kFirstOther + static_cast<int64_t>(std::size(kOthers)) - 1);
}

}  // namespace opkit
