#include "engine/import/onnx/onnx_rules.h"
#include "ops/group_norm/group_norm_parts.h"

namespace opkit::ops::group_norm {
namespace {

OnnxRule rule(bool byGroup) {
  return [=](OnnxNode& node) -> Status {
    OPKIT_TRY(requireOnly(node, "stash_type", 1));  // statistics in f32
    GroupNormParamsT params;
    OPKIT_ASSIGN(params.num_groups, requiredInt(node, "num_groups"));
    params.epsilon = node.floatAttribute("epsilon", 1e-5F);
    params.by_group = byGroup;
    return node.emit("GroupNormalization", node.inputs(), packParams(params));
  };
}

}  // namespace

void addOnnx(OnnxRules& rules) {
  rules.add("GroupNormalization", {"epsilon", "num_groups"}, rule(true), 18, 20);
  rules.add("GroupNormalization", {"epsilon", "num_groups", "stash_type"}, rule(false), 21);
  rules.note("GroupNormalization", {}, "statistics are f32: stash_type is 1");
}

}  // namespace opkit::ops::group_norm
