// narrow: a conversion between integer types that keeps the value.
#pragma once

#include <concepts>
#include <utility>

#include "engine/base/check.h"

namespace opkit {

/// `value` as a To; REQUIRES a value that To holds.
template <std::integral To, std::integral From>
constexpr To narrow(From value) {
  OPKIT_CHECK(std::in_range<To>(value));
  return static_cast<To>(value);
}

}  // namespace opkit
