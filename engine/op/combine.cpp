#include "engine/op/combine.h"

namespace opkit {

Result<Combine> parseCombine(const std::string& reduction) {
  if (reduction.empty()) return Combine::Replace;
  static constexpr const char* kNames[] = {"none", "add", "mul", "max", "min"};
  for (size_t i = 0; i < std::size(kNames); ++i)
    if (reduction == kNames[i]) return static_cast<Combine>(i);
  return Status::invalidArgument("reduction must be one of none, add, mul, max, min, got '{}'", reduction);
}

}  // namespace opkit
