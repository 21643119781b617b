// Loops of Cast over elements of two types that C++ has, compiled once per instruction set.
#pragma once

#include <cstdint>

#include "engine/tensor/dtype.h"

namespace opkit::ops::cast {

/// y[i] = x[i], converted as cast_cpu.cpp says; the elements do not overlap.
using CastMap = void (*)(const void* x, void* y, int64_t count);

/// The loop from `from` to `to`; null if one of them is f16 or coded. Thread-safe.
CastMap castMapOf(DType from, DType to);

}  // namespace opkit::ops::cast
