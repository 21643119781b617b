#include "engine/import/onnx/onnx_rules.h"

namespace opkit::ops::where {

void addOnnx(OnnxRules& rules) { rules.add("Where", {}, passThrough("Where"), 9); }

}  // namespace opkit::ops::where
