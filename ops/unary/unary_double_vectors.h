// The functions of the unary family on f64, by vectors per instruction set.
#pragma once

#include "ops/unary/unary_maps.h"

namespace opkit::ops::unary {

/// The loop of an operator on f64, within 8 ULP; null if there is none. Elements outside the range of
/// their function, such as infinities and NaN, go through the functions of unary_scalars.h. Thread-safe.
TypedMap doubleMapOf(std::string_view type);

}  // namespace opkit::ops::unary
