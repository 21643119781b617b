// The vector kernels of the unary family, per instruction set.
#pragma once

#include <cstdint>
#include <string_view>

namespace opkit::ops::unary {

/// y[i] = f(x[i]); y may be x. `a` and `b` are the function's parameters.
using VectorMap = void (*)(const float* x, float* y, int64_t count, float a, float b);

/// The kernel of an operator on f32; null if there is none. Thread-safe.
VectorMap vectorMapOf(std::string_view type);

}  // namespace opkit::ops::unary
