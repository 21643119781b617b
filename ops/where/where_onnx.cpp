#include "engine/import/onnx/onnx_rules.h"
#include "ops/text/over_strings.h"

namespace opkit::ops::where {

void addOnnx(OnnxRules& rules) {
  rules.add("Where", {}, text::overStrings(passThrough("Where"), {.first = 1, .last = 2}), 9);
}

}  // namespace opkit::ops::where
