// combined: what the kernels of scatters make of two values. A pure function, thread-safe.
#pragma once

#include <type_traits>

#include "engine/op/combine.h"

namespace opkit {

/// Integers wrap; NaN wins a maximum and a minimum.
template <class T>
T combined(Combine combine, T old, T value) {
  using Wide = std::conditional_t<std::is_integral_v<T>, uint64_t, T>;
  switch (combine) {
    case Combine::Replace: return value;
    case Combine::Add: return static_cast<T>(static_cast<Wide>(old) + static_cast<Wide>(value));
    case Combine::Multiply: return static_cast<T>(static_cast<Wide>(old) * static_cast<Wide>(value));
    case Combine::Maximum: return old == old && !(value <= old) ? value : old;
    case Combine::Minimum: break;
  }
  return old == old && !(value >= old) ? value : old;
}

}  // namespace opkit
