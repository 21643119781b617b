// readParameters: the sizes that a user gives a network of the zoo, as in zoo:decoder:layers=4,heads=8.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "engine/base/status.h"

namespace opkit::zoo {

struct Parameter {
  std::string_view name;
  int64_t* value;
  int64_t most;  // the least is 1
};

/// Sets the values that `text` names; empty text sets none. InvalidArgument if it is no list of NAME=NUMBER with commas
/// between them, gives one twice, or names none of `known` or a number outside its range.
Status readParameters(std::string_view text, std::span<const Parameter> known);

}  // namespace opkit::zoo
