#include "engine/import/onnx/onnx_rules.h"
#include "ops/identity/identity_parts.h"

namespace opkit::ops::identity {

/// ops/random has the rules of Dropout.
void addOnnx(OnnxRules& rules) {
  rules.add("Identity", {},
            [](OnnxNode& node) { return node.emit(node.isObject(0) ? "HostIdentity" : "Identity", node.inputs()); });
}

}  // namespace opkit::ops::identity
