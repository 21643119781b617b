// The vector kernels of the binary family, per instruction set.
#pragma once

#include <cstdint>
#include <string_view>

namespace opkit::ops::binary {

/// z[i] = f(x[i * xStride], y[i * yStride]) with strides 0 or 1; z may be an operand of stride 1.
using VectorMap = void (*)(const float* x, int64_t xStride, const float* y, int64_t yStride, float* z, int64_t count);

/// The kernel of an operator on f32; null if there is none. Thread-safe.
VectorMap vectorMapOf(std::string_view type);

/// z[i] = x[i * xStride]^y[i] for exponents that floats may not hold; within 0.51 ULP.
void powDoubles(const float* x, int64_t xStride, const double* y, float* z, int64_t count);

}  // namespace opkit::ops::binary
