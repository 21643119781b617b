#include "engine/import/onnx/onnx_rules.h"
#include "ops/non_max_suppression/non_max_suppression_generated.h"

namespace opkit::ops::non_max_suppression {
namespace {

/// The first `count` rows of `indices`.
Status rule(OnnxNode& node) {
  NonMaxSuppressionParamsT params;
  params.center_point_box = node.intAttribute("center_point_box", 0) != 0;
  const std::vector<int> found = node.emitIntermediates("NonMaxSuppression", node.inputs(), 2, packParams(params));
  const std::vector<int64_t> first{0};
  return node.emit("Slice", {found[0], node.addConstant("starts", first), found[1], node.addConstant("axes", first)});
}

}  // namespace

void addOnnx(OnnxRules& rules) { rules.add("NonMaxSuppression", {"center_point_box"}, rule, 10); }

}  // namespace opkit::ops::non_max_suppression
