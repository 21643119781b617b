// Combine: the ways to merge a scattered value with the element that it meets (`reduction` of ONNX's scatter
// operators).
#pragma once

#include <cstdint>

namespace opkit {

enum class Combine : uint8_t { Replace, Add, Multiply, Maximum, Minimum };  // the numbers match loop_combine.comp

}  // namespace opkit
