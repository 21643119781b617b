// Combine: the ways to merge a scattered value with the element that it meets (`reduction` of ONNX's scatter
// operators).
//
// Pure functions, thread-safe.
#pragma once

#include <cstdint>
#include <type_traits>

namespace opkit {

enum class Combine : uint8_t { Replace, Add, Multiply, Maximum, Minimum };  // the numbers match loop_combine.comp

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
