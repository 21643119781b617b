#include "engine/import/onnx/onnx_rules.h"
#include "ops/center_crop_pad/center_crop_pad_parts.h"

namespace opkit::ops::center_crop_pad {
namespace {

Status rule(OnnxNode& node) {
  CenterCropPadParamsT params;
  params.axes = node.intsAttribute("axes");
  return node.emit("CenterCropPad", node.inputs(), packParams(params));
}

}  // namespace

void addOnnx(OnnxRules& rules) { rules.add("CenterCropPad", {"axes"}, rule, 18); }

}  // namespace opkit::ops::center_crop_pad
