#include "engine/import/onnx/onnx_rules.h"
#include "ops/det/det_parts.h"

namespace opkit::ops::det {

void addOnnx(OnnxRules& rules) { rules.add("Det", {}, passThrough("Det"), 11); }

}  // namespace opkit::ops::det
