#include "engine/import/onnx/onnx_rules.h"
#include "ops/deform_conv/deform_conv_parts.h"

namespace opkit::ops::deform_conv {
namespace {

Status rule(OnnxNode& node) {
  DeformConvParamsT params;
  params.kernel_shape = node.intsAttribute("kernel_shape");
  params.strides = node.intsAttribute("strides");
  params.pads = node.intsAttribute("pads");
  params.dilations = node.intsAttribute("dilations");
  params.group = node.intAttribute("group", 1);
  params.offset_group = node.intAttribute("offset_group", 1);
  return node.emit("DeformConv", node.inputs(), packParams(params));
}

}  // namespace

void addOnnx(OnnxRules& rules) {
  rules.add("DeformConv", {"dilations", "group", "kernel_shape", "offset_group", "pads", "strides"}, rule, 19);
}

}  // namespace opkit::ops::deform_conv
