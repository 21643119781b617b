#include "ops/conv/conv_onnx.h"

#include "engine/import/onnx/padding_field.h"

namespace opkit::ops::conv {

const OnnxFields<ConvParamsT>& convFields() {
  static const OnnxFields<ConvParamsT> fields{
      field("kernel_shape", &ConvParamsT::kernel_shape), field("strides", &ConvParamsT::strides),
      field("dilations", &ConvParamsT::dilations), field("group", &ConvParamsT::group),
      padding("auto_pad", &ConvParamsT::auto_pad, "pads", &ConvParamsT::pads)};
  return fields;
}

void addOnnx(OnnxRules& rules) { rules.add("Conv", nodeOf("Conv", convFields())); }

}  // namespace opkit::ops::conv
