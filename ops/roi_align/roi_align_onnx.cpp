#include "engine/import/onnx/onnx_fields.h"
#include "ops/roi_align/roi_align_parts.h"

namespace opkit::ops::roi_align {

void addOnnx(OnnxRules& rules) {
  using Params = RoiAlignParamsT;
  OnnxFields<Params> fields{
      choice("mode", &Params::mode, {{"avg", RoiMode::Mean}, {"max", RoiMode::Maximum}}),
      field("output_height", &Params::output_height), field("output_width", &Params::output_width),
      field("sampling_ratio", &Params::sampling_ratio), field("spatial_scale", &Params::spatial_scale)};
  OnnxFields<Params> old = fields;
  old.push_back(fixed(&Params::half_pixel, false));
  rules.add("RoiAlign", nodeOf("RoiAlign", old), 10, 15);
  fields.push_back(choice("coordinate_transformation_mode", &Params::half_pixel,
                          {{"half_pixel", true}, {"output_half_pixel", false}}));
  rules.add("RoiAlign", nodeOf("RoiAlign", fields), 16);
}

}  // namespace opkit::ops::roi_align
