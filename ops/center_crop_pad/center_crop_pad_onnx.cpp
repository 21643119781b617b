#include "engine/import/onnx/onnx_fields.h"
#include "ops/center_crop_pad/center_crop_pad_parts.h"

namespace opkit::ops::center_crop_pad {

void addOnnx(OnnxRules& rules) {
  using Params = CenterCropPadParamsT;
  rules.add("CenterCropPad", nodeOf<Params>("CenterCropPad", {field("axes", &Params::axes)}), 18);
}

}  // namespace opkit::ops::center_crop_pad
