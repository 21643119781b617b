// Strings in operators that compare or move elements. Such an operator runs on numbers in their place: EncodeStrings
// gives each string its place in a sorted dictionary, and DecodeStrings turns the numbers that come out into strings.
#pragma once

#include "engine/import/onnx/onnx_rules.h"

namespace opkit::ops::text {

enum class Made {
  Numbers,       // no output holds strings: Equal, Shape
  Strings,       // every output does: Concat, Split
  FirstStrings,  // output 0 does: Unique
};

struct StringPorts {
  size_t first = 0, last = 0;  // the inputs that hold strings, or elements of another type
  Made made = Made::Strings;
};

/// `rule`, run on numbers if one of the ports holds strings, as far as the file says. Then all must, or the run fails.
OnnxRule overStrings(OnnxRule rule, StringPorts ports = {});
inline OnnxDeclaration overStrings(OnnxDeclaration declaration, StringPorts ports = {}) {
  return {std::move(declaration.attributes), overStrings(std::move(declaration.rule), ports)};
}

}  // namespace opkit::ops::text
