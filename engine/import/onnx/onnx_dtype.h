// ONNX TensorProto.DataType numbers and the OpKit dtypes they stand for.
#pragma once

#include <cstdint>
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
    case 8: return DType::String;
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
    case 21: return DType::UInt4;
    case 22: return DType::Int4;
    case 23: return DType::Float4E2M1;
    case 24: return DType::Float8E8M0;
    case 25: return DType::UInt2;
    case 26: return DType::Int2;
    default: break;
  }
  constexpr int64_t kLatest = 26;
  constexpr std::pair<int64_t, const char*> kOthers[] = {{14, "complex64"}, {15, "complex128"}};
  if (number <= 0) return Status::invalidArgument("ONNX type number must be 1 or more, got {}", number);
  for (const auto& [other, name] : kOthers)
    if (other == number) return Status::unsupported("ONNX type {}: not a tensor type of OpKit", name);
  return Status::unsupported("ONNX type number {}: newer than this build, which knows those up to {}", number, kLatest);
}

/// The number of a dtype in ONNX; 0 for one that ONNX lacks.
inline int onnxNumberOf(DType dtype) {
  for (int number = 1; number <= 26; ++number)
    if (const auto candidate = dtypeFromOnnx(number); candidate.has_value() && *candidate == dtype) return number;
  return 0;
}

}  // namespace opkit
