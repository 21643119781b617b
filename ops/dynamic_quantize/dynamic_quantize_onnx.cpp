#include "engine/import/onnx/onnx_rules.h"
#include "ops/dynamic_quantize/dynamic_quantize_parts.h"

namespace opkit::ops::dynamic_quantize {

void addOnnx(OnnxRules& rules) { rules.add("DynamicQuantizeLinear", {}, passThrough("DynamicQuantizeLinear"), 11); }

}  // namespace opkit::ops::dynamic_quantize
