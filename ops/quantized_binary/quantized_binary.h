// QLinearAdd and QLinearMul: sums and products of quantised operands that broadcast, quantised. Shared by their
// kernels. Plain functions, thread-safe.
#pragma once

#include "engine/op/loops.h"
#include "engine/op/op_def.h"

namespace opkit::ops::quantized_binary {

/// Numbers of the inputs; each scale and each zero point is one value.
enum Input : size_t { kA, kAScale, kAZeroPoint, kB, kBScale, kBZeroPoint, kYScale, kYZeroPoint };

/// Of a and b over their broadcast shape.
Loops loopsOf(const Shape& a, const Shape& b);

/// The function's constant in the shader.
uint32_t functionOf(std::string_view type);

Status addReference(const OracleArgs& args);
Status multiplyReference(const OracleArgs& args);

}  // namespace opkit::ops::quantized_binary
