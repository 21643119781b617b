#include "engine/import/onnx/onnx_rules.h"
#include "ops/dft/dft_parts.h"

namespace opkit::ops::dft {
namespace {

/// Up to version 19 the axis is an attribute, and its default counts from the front.
Status rule(OnnxNode& node) {
  DftParamsT params;
  params.axis = node.opset() < 20 ? node.intAttribute("axis", 1) : -2;
  params.inverse = node.intAttribute("inverse", 0) != 0;
  params.onesided = node.intAttribute("onesided", 0) != 0;
  return node.emit("DFT", node.inputs(), packParams(params));
}

}  // namespace

void addOnnx(OnnxRules& rules) {
  rules.add("DFT", {"axis", "inverse", "onesided"}, rule, 17, 19);
  rules.add("DFT", {"inverse", "onesided"}, rule, 20);
}

}  // namespace opkit::ops::dft
