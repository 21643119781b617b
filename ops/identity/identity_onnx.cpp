#include "engine/import/onnx/onnx_rules.h"
#include "ops/identity/identity_parts.h"

namespace opkit::ops::identity {

/// ops/random has the rules of Dropout.
void addOnnx(OnnxRules& rules) { rules.add("Identity", {}, passThrough("Identity")); }

}  // namespace opkit::ops::identity
