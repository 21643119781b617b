#include "engine/import/onnx/onnx_rules.h"
#include "ops/identity/identity_parts.h"

namespace opkit::ops::identity {

/// ops/random has the rules of Dropout.
void addOnnx(OnnxRules& rules) {
  const auto read = [](OnnxNode& node) {
    return node.emit(node.isObject(0) ? "HostIdentity" : "Identity", node.inputs());
  };
  const auto write = [](const OpNode&, OnnxForm&) { return Status::ok(); };
  rules.add("Identity", {}, {read, {{"Identity", "HostIdentity"}, write}});
}

}  // namespace opkit::ops::identity
