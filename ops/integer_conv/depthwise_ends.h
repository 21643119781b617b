// The ends of the depthwise kernel: bytes become floats before its sums, sums become results after. Compiled once per
// instruction set and chosen at run time. Pure functions.
#pragma once

#include "engine/backend/cpu/gemm/byte_gemm.h"

namespace opkit::ops::integer_conv {

/// to = x - zeroPoint as floats.
void differences(const uint8_t* x, bool isSigned, int32_t zeroPoint, float* to, int64_t count);

/// y = the sums, which are whole numbers below 2^24.
void storeSums(const float* sums, int32_t* y, int64_t count);

struct OutputEnd {
  int32_t bias = 0;
  float multiplier = 1;
  cpu::bytes::Requantization target;
};
/// y = round((sum + bias) * multiplier) + zero point, to nearest even, saturated.
void storeQuantized(const float* sums, const OutputEnd& end, uint8_t* y, int64_t count);

}  // namespace opkit::ops::integer_conv
