// combined: what the kernels of scatters make of two values; RunningFold: the steps of running sums and products. Pure
// functions, thread-safe.
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

/// A running sum or product: what it starts as, and what a further term makes of it. Unsigned integers wrap.
template <bool kIsProduct>
struct RunningFold {
  static constexpr int kStart = kIsProduct ? 1 : 0;

  template <class T>
  static T next(T fold, T term) {
    if constexpr (kIsProduct)
      return fold * term;
    else
      return fold + term;
  }
};

}  // namespace opkit
