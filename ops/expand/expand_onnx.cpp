#include "engine/import/onnx/onnx_rules.h"

namespace opkit::ops::expand {

void addOnnx(OnnxRules& rules) { rules.add("Expand", {}, passThrough("Expand"), 8); }

}  // namespace opkit::ops::expand
