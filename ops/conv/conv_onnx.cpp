#include "ops/conv/conv_onnx.h"

#include "engine/op/window.h"
#include "ops/conv/conv_generated.h"

namespace opkit::ops::conv {

Result<ParamBytes> convParams(const OnnxNode& node) {
  ConvParamsT params;
  OPKIT_ASSIGN(const opkit::AutoPad autoPad, parseAutoPad(node.stringAttribute("auto_pad", "NOTSET")));
  params.auto_pad = static_cast<conv::AutoPad>(autoPad);
  params.kernel_shape = node.intsAttribute("kernel_shape");
  params.strides = node.intsAttribute("strides");
  params.dilations = node.intsAttribute("dilations");
  // VALID and SAME exclude explicit pads, but exporters write them anyway.
  if (autoPad == opkit::AutoPad::NotSet) params.pads = node.intsAttribute("pads");
  params.group = node.intAttribute("group", 1);
  return packParams(params);
}

Status emitConv(OnnxNode& node) {
  OPKIT_ASSIGN(ParamBytes params, convParams(node));
  return node.emit(node.opType(), node.inputs(), std::move(params));
}

void addOnnx(OnnxRules& rules) { rules.add("Conv", kConvAttributes, emitConv); }

}  // namespace opkit::ops::conv
