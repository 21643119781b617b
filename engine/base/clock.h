// The clock of every measurement on the host.
#pragma once

#include <chrono>

namespace opkit {

/// Nanoseconds of a clock that never steps back. Only differences have a meaning.
inline double nowNs() {
  return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace opkit
