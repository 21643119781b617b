// Loops between floats and the codes of the floats that no C++ type holds (bf16, 8-bit floats), by their bits. Drives
// cast_cpu.cpp; the oracle searches a table instead.
#pragma once

#include "ops/cast/cast_parts.h"

namespace opkit::ops::cast {

/// What CastParams says about the target.
struct Coding {
  bool saturate = true;
  RoundMode roundMode = RoundMode::up;
};

/// Widens `count` codes of `dtype`, exactly. REQUIRES isCodedFloat(dtype); `codes` holds sizeOf(dtype) bytes each.
void decodeAll(DType dtype, const std::byte* codes, float* values, int64_t count);

/// Rounds `count` floats to codes of `dtype`: to nearest even, f8e8m0 as the mode says (negative numbers are NaN
/// there).
void encodeAll(DType dtype, Coding coding, const float* values, std::byte* codes, int64_t count);

}  // namespace opkit::ops::cast
