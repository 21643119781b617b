// Loops of the unary family over elements of one dtype each, for what the f32 vectors leave: integers, tests, and the
// plain functions of f64.
#pragma once

#include <string_view>

#include "engine/tensor/dtype.h"

namespace opkit::ops::unary {

/// y[i] = f(x[i], a, b); y may be x if their elements have one size.
using TypedMap = void (*)(const void* x, void* y, int64_t count, double a, double b);

/// The loop of an operator on elements of `dtype`; null if there is none. Thread-safe.
TypedMap typedMapOf(std::string_view type, DType dtype);

}  // namespace opkit::ops::unary
