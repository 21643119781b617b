#include "engine/import/onnx/onnx_rules.h"

namespace opkit::ops::range {

void addOnnx(OnnxRules& rules) {
  rules.add("Range", {}, passThrough("Range"), 11, 26);
  const auto stashing = [](OnnxNode& node) -> Status {
    OPKIT_TRY(requireOnly(node, "stash_type", 1));  // halves are computed in f32
    return node.emit("Range", node.inputs());
  };
  rules.add("Range", {"stash_type"}, {stashing, passThrough("Range").inverse}, 27);
  rules.note("Range", {}, "stash_type is 1");
}

}  // namespace opkit::ops::range
