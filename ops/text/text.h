// The operators on strings, on the host.
#pragma once

#include "engine/op/control.h"
#include "engine/tensor/objects.h"

namespace opkit::ops::text {

/// UTF-8 text with every letter in lower or upper case, by the tables of the locale C.UTF-8. Bytes that are no UTF-8
/// stay.
std::string inLowerCase(const std::string& text);
std::string inUpperCase(const std::string& text);

/// A decimal number, or inf, infinity, nan in any case, with or without a sign, and white space around it.
Result<double> numberFrom(const std::string& text);

Result<std::vector<Tensor>> runToString(const ControlArgs& args);
Result<std::vector<Tensor>> runFromString(const ControlArgs& args);
Result<std::vector<Tensor>> runEncode(const ControlArgs& args);
Result<std::vector<Tensor>> runFind(const ControlArgs& args);
Result<std::vector<Tensor>> runDecode(const ControlArgs& args);

}  // namespace opkit::ops::text
