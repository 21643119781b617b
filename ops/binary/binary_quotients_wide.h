// Quotients, rests and powers of integers, and rests of floats: loops per dtype and instruction set.
#pragma once

#include "ops/binary/binary_maps.h"

namespace opkit::ops::binary {

/// The loop of Div, Mod, FMod or Pow on integers, or of FMod on f32 and f64; null for all others. Thread-safe.
TypedMap quotientMapOf(std::string_view type, DType dtype);

}  // namespace opkit::ops::binary
