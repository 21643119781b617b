#include "engine/import/onnx/onnx_rules.h"
#include "engine/op/window.h"
#include "ops/conv_transpose/conv_transpose.h"

namespace opkit::ops::conv_transpose {
namespace {

Status convTranspose(OnnxNode& node) {
  ConvTransposeParamsT params;
  OPKIT_ASSIGN(const opkit::AutoPad autoPad, parseAutoPad(node.stringAttribute("auto_pad", "NOTSET")));
  params.auto_pad = static_cast<conv_transpose::AutoPad>(autoPad);
  params.kernel_shape = node.intsAttribute("kernel_shape");
  params.strides = node.intsAttribute("strides");
  params.dilations = node.intsAttribute("dilations");
  params.output_padding = node.intsAttribute("output_padding");
  params.output_shape = node.intsAttribute("output_shape");
  // ONNX ignores explicit pads beside either; exporters write them anyway.
  if (autoPad == opkit::AutoPad::NotSet && params.output_shape.empty()) params.pads = node.intsAttribute("pads");
  params.group = node.intAttribute("group", 1);
  return node.emit("ConvTranspose", node.inputs(), packParams(params));
}

Status col2Im(OnnxNode& node) {
  Col2ImParamsT params;
  params.strides = node.intsAttribute("strides");
  params.pads = node.intsAttribute("pads");
  params.dilations = node.intsAttribute("dilations");
  return node.emit("Col2Im", node.inputs(), packParams(params));
}

}  // namespace

void addOnnx(OnnxRules& rules) {
  rules.add("ConvTranspose",
            {"auto_pad", "dilations", "group", "kernel_shape", "output_padding", "output_shape", "pads", "strides"},
            convTranspose);
  rules.add("Col2Im", {"dilations", "pads", "strides"}, col2Im, 18);
}

}  // namespace opkit::ops::conv_transpose
