#include "engine/import/onnx/onnx_fields.h"
#include "ops/deform_conv/deform_conv_parts.h"

namespace opkit::ops::deform_conv {

void addOnnx(OnnxRules& rules) {
  using Params = DeformConvParamsT;
  rules.add(
      "DeformConv",
      nodeOf<Params>("DeformConv", {field("kernel_shape", &Params::kernel_shape), field("strides", &Params::strides),
                                    field("pads", &Params::pads), field("dilations", &Params::dilations),
                                    field("group", &Params::group), field("offset_group", &Params::offset_group)}),
      19);
}

}  // namespace opkit::ops::deform_conv
