// Durations for people.
#pragma once

#include <fmt/format.h>

#include <string>

namespace opkit {

/// "12.3 ms", "4.5 us": three significant digits, a unit that fits.
inline std::string formatNs(double ns) {
  constexpr const char* kUnits[] = {"ns", "us", "ms", "s"};
  size_t unit = 0;
  while (ns >= 1000 && unit < 3) {
    ns /= 1000;
    ++unit;
  }
  return fmt::format("{:.{}f} {}", ns, ns < 10 ? 2 : ns < 100 ? 1 : 0, kUnits[unit]);
}

}  // namespace opkit
