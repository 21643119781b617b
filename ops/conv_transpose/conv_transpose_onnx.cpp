#include "engine/import/onnx/padding_field.h"
#include "ops/conv_transpose/conv_transpose.h"

namespace opkit::ops::conv_transpose {
namespace {

using Params = ConvTransposeParamsT;

const OnnxFields<Params>& fields() {
  static const OnnxFields<Params> fields{field("kernel_shape", &Params::kernel_shape),
                                         field("strides", &Params::strides),
                                         field("dilations", &Params::dilations),
                                         field("group", &Params::group),
                                         field("output_padding", &Params::output_padding),
                                         field("output_shape", &Params::output_shape),
                                         padding("auto_pad", &Params::auto_pad, "pads", &Params::pads)};
  return fields;
}

/// ONNX ignores explicit pads beside an output shape; exporters write them anyway.
Status convTranspose(OnnxNode& node) {
  OPKIT_ASSIGN(Params params, readFields(node, fields()));
  if (!params.output_shape.empty()) params.pads.clear();
  return node.emit("ConvTranspose", node.inputs(), packParams(params));
}

}  // namespace

void addOnnx(OnnxRules& rules) {
  using Image = Col2ImParamsT;
  rules.add("ConvTranspose", attributesOf(fields()), {convTranspose, inverseOf({"ConvTranspose"}, fields())});
  rules.add("Col2Im",
            nodeOf<Image>("Col2Im", {field("strides", &Image::strides), field("pads", &Image::pads),
                                     field("dilations", &Image::dilations)}),
            18);
}

}  // namespace opkit::ops::conv_transpose
