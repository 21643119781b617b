// ONNX TensorProto.DataType numbers and the OpKit dtypes they stand for.
#pragma once

#include <cstdint>
#include <iterator>
#include <utility>

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
    case 16: return DType::BFloat16;
    case 17: return DType::Float8E4M3FN;
    case 18: return DType::Float8E4M3FNUZ;
    case 19: return DType::Float8E5M2;
    case 20: return DType::Float8E5M2FNUZ;
    case 24: return DType::Float8E8M0;
    default: break;
  }
  if (number == 8) return Status::unsupported("ONNX type string: OpKit tensors hold numbers and bool only");
  constexpr std::pair<int64_t, const char*> kOthers[] = {{14, "complex64"}, {15, "complex128"}, {21, "uint4"},
                                                         {22, "int4"},      {23, "float4e2m1"}, {25, "uint2"},
                                                         {26, "int2"}};
  if (number <= 0) return Status::invalidArgument("ONNX type number must be 1 or more, got {}", number);
  for (const auto& [other, name] : kOthers)
    if (other == number) return Status::unsupported("ONNX type {}: not a tensor type of OpKit", name);
  return Status::unsupported("ONNX type number {}: newer than this build, which knows those up to {}", number,
                             std::rbegin(kOthers)->first);
}

}  // namespace opkit
