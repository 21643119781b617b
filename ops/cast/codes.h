// Loops between floats and the codes of the floats that no C++ type holds (bf16, floats of 8 and 4 bits), by their
// bits, and between codes that share bytes and codes that do not. Drives cast_cpu.cpp; the oracle searches a table
// instead.
#pragma once

#include "ops/cast/cast_parts.h"

namespace opkit::ops::cast {

/// The treatment of the target in CastParams.
struct Coding {
  bool saturate = true;
  RoundMode roundMode = RoundMode::up;
};

/// Widens `count` codes of `dtype`, exactly. REQUIRES isCodedFloat(dtype); `codes` holds bytesOf(dtype, 1)
/// bytes each.
void decodeAll(DType dtype, const std::byte* codes, float* values, int64_t count);

/// Rounds `count` floats to codes of `dtype`: to nearest even, f8e8m0 as the mode says (negative numbers are NaN
/// there).
void encodeAll(DType dtype, Coding coding, const float* values, std::byte* codes, int64_t count);

/// The dtype of the elements of a packed dtype in bytes of their own: i8 or u8, which holds the codes of f4e2m1.
DType unpackedOf(DType packed);
/// Gives each element a byte: integers their value, f4e2m1 its code. REQUIRES that the first begins a byte.
void unpackAll(DType packed, const std::byte* from, std::byte* to, int64_t count);
/// The inverse: takes the low bits of each byte; the unused bits of the last byte become zero.
void packAll(DType packed, const std::byte* from, std::byte* to, int64_t count);

}  // namespace opkit::ops::cast
