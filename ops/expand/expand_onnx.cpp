#include "engine/import/onnx/onnx_rules.h"
#include "ops/text/over_strings.h"

namespace opkit::ops::expand {

void addOnnx(OnnxRules& rules) { rules.add("Expand", {}, text::overStrings(passThrough("Expand")), 8); }

}  // namespace opkit::ops::expand
