#include "engine/import/onnx/onnx_rules.h"
#include "ops/mean_variance_norm/mean_variance_norm_parts.h"

namespace opkit::ops::mean_variance_norm {
namespace {

Status rule(OnnxNode& node) {
  MeanVarianceNormParamsT params;
  params.axes = {0, 2, 3};
  if (node.hasAttribute("axes")) params.axes = node.intsAttribute("axes");
  return node.emit("MeanVarianceNormalization", node.inputs(), packParams(params));
}

}  // namespace

void addOnnx(OnnxRules& rules) { rules.add("MeanVarianceNormalization", {"axes"}, rule, 9); }

}  // namespace opkit::ops::mean_variance_norm
