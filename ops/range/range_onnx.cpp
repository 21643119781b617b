#include "engine/import/onnx/onnx_rules.h"

namespace opkit::ops::range {

void addOnnx(OnnxRules& rules) { rules.add("Range", {}, passThrough("Range"), 11); }

}  // namespace opkit::ops::range
