#include "engine/import/onnx/onnx_fields.h"
#include "ops/non_max_suppression/non_max_suppression_generated.h"

namespace opkit::ops::non_max_suppression {
namespace {

using Params = NonMaxSuppressionParamsT;

OnnxField<Params> box() { return field("center_point_box", &Params::center_point_box); }

/// The first `count` rows of `indices`.
Status rule(OnnxNode& node) {
  OPKIT_ASSIGN(const Params params, readFields<Params>(node, {box()}));
  const std::vector<TensorId> found = node.emitIntermediates("NonMaxSuppression", node.inputs(), 2, packParams(params));
  const std::vector<int64_t> first{0};
  return node.emit("Slice", {found[0], node.addConstant("starts", first), found[1], node.addConstant("axes", first)});
}

}  // namespace

void addOnnx(OnnxRules& rules) {
  const auto write = [](const Params& params, const OpNode&, OnnxForm& form) {
    form.outputs = {{0, 1, 0}};
    return box().write(params, form);
  };
  rules.add("NonMaxSuppression", box().attributes, {rule, inverseOf<Params>({"NonMaxSuppression"}, write)}, 10);
}

}  // namespace opkit::ops::non_max_suppression
