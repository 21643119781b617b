// Loops of the binary family over elements of one dtype each, for what the f32 vectors leave: integers, bool, f64 and
// comparisons.
#pragma once

#include <string_view>

#include "engine/tensor/dtype.h"

namespace opkit::ops::binary {

/// z[i] = f(x[i * xStride], y[i * yStride]) with strides 0 or 1; z may be an operand of stride 1 and of its element
/// size.
using TypedMap = void (*)(const void* x, int64_t xStride, const void* y, int64_t yStride, void* z, int64_t count);

/// The loop of an operator on elements of `dtype`; null if there is none. Thread-safe.
TypedMap typedMapOf(std::string_view type, DType dtype);

}  // namespace opkit::ops::binary
