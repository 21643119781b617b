// Loops of QuantizeLinear and DequantizeLinear over neighbouring elements. Compiled once per instruction set and chosen
// at run time. `step` is 0 where all elements share one scale and zero point, 1 where each has its own. Pure functions.
#pragma once

#include <cstdint>

namespace opkit::ops::quantize {

/// quotients = x / scale. They may be x.
void divideBy(const float* x, const float* scale, int64_t step, float* quotients, int64_t count);

/// y = quotient rounded to nearest even, plus the zero point, within the limits of Y; NaN gives the least number. Y is
/// int8_t, uint8_t, int16_t or uint16_t.
template <class Y>
void roundTo(const float* quotients, const int32_t* zeroPoint, int64_t step, Y* y, int64_t count);

/// The same of x / scale.
template <class Y>
void quantizeTo(const float* x, const float* scale, const int32_t* zeroPoint, int64_t step, Y* y, int64_t count);

/// values = x - zeroPoint as floats. X is one of the same, or int32_t, where the difference wraps.
template <class X>
void subtractFrom(const X* x, const int32_t* zeroPoint, int64_t step, float* values, int64_t count);

/// y = values * scale. They may be `values`.
void multiplyBy(const float* values, const float* scale, int64_t step, float* y, int64_t count);

}  // namespace opkit::ops::quantize
