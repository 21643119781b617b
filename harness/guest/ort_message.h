// Messages of ONNX Runtime as one line.
#pragma once

#include <string>
#include <string_view>

namespace opkit::harness::ort {

/// The message on one line without places in the library's own sources: a path with a line number and the signature of
/// the function, as exceptions have them. "no reason given" if nothing is left.
std::string meaningOf(std::string_view message);

}  // namespace opkit::harness::ort
