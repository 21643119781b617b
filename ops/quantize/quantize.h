// Shared by the files of QuantizeLinear and DequantizeLinear: their types, and the scale that belongs to an element.
#pragma once

#include "ops/quantize/quantize_parts.h"

namespace opkit::ops::quantize {

inline constexpr DTypeSet kReals{DType::Float32, DType::Float16, DType::BFloat16};
inline constexpr DTypeSet kSmallIntegers{DType::Int8, DType::UInt8, DType::Int16, DType::UInt16};
inline constexpr DTypeSet kSmallFloats{DType::Float8E4M3FN, DType::Float8E4M3FNUZ, DType::Float8E5M2,
                                       DType::Float8E5M2FNUZ};
inline constexpr DTypeSet kQuantized = kSmallIntegers | kSmallFloats | kPackedDTypes;

/// A tensor seen as [outer, extent, inner], where `extent` is that of the axis. Element (o, i, j) has the scale number
/// o * outerStep + i / block * blockStep + j * innerStep, and the zero point of that number.
struct ScalePlan {
  int64_t outer = 1, extent = 1, inner = 1;
  int64_t block = 1;
  int64_t outerStep = 0, blockStep = 0, innerStep = 0;

  /// One scale for all elements.
  bool isSingle() const;
};

/// InvalidArgument if the scales fit neither the whole tensor, nor the axis, nor its blocks.
Result<ScalePlan> planScales(const Shape& x, const Shape& scale, int64_t axis, int64_t blockSize);

/// The type of a quotient or of dequantised elements: `chosen`, a DType's number, or that of the scale if it is 0.
DType realTypeOf(int chosen, DType scale);

Status dequantizeReference(const OracleArgs& args);

}  // namespace opkit::ops::quantize
