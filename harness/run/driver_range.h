// DriverRange: versions of drivers, compared number by number. Plain values.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/status.h"

namespace opkit::harness {

/// The numbers of "22.3.6", the most significant first; empty if unknown.
using DriverVersion = std::vector<uint64_t>;

/// The first word of a driver's text that is numbers with dots between: 22.3.6 of "llvmpipe Mesa 22.3.6 (LLVM 15.0.6)",
/// 525.147.5 of "NVIDIA 525.147.05". Empty if there is none.
DriverVersion driverVersionOf(std::string_view driver);
std::string toString(const DriverVersion& version);

/// The name of a driver and its major version: "llvmpipe-22" of "llvmpipe Mesa 22.3.6 (LLVM 15.0.6)", "NVIDIA-525" of
/// "NVIDIA 525.147.05". The whole text if it states no version or begins with it. One line without spaces at its ends.
std::string driverSeriesOf(std::string_view driver);

/// Both ends belong to the range; an empty one is open. The upper end covers every version that begins with it: 22.3.6
/// lies in "..22.3".
struct DriverRange {
  DriverVersion first, last;

  bool includes(const DriverVersion& version) const;
  /// "22.3..25.0", "22.3..", "..25.0", or "22.3" if both ends are the same.
  std::string toString() const;
};

/// The inverse of DriverRange::toString. InvalidArgument if the text has another form or no version lies in the range.
Result<DriverRange> parseDriverRange(std::string_view text);

}  // namespace opkit::harness
