#include "engine/import/onnx/onnx_fields.h"
#include "ops/grid_sample/grid_sample.h"

namespace opkit::ops::grid_sample {

void addOnnx(OnnxRules& rules) {
  using Params = GridSampleParamsT;
  using Affine = AffineGridParamsT;
  const OnnxField<Params> align = field("align_corners", &Params::align_corners),
                          padding = choice("padding_mode", &Params::padding,
                                           {{"zeros", GridPadding::Zeros},
                                            {"border", GridPadding::Border},
                                            {"reflection", GridPadding::Reflection}}),
                          mode = choice("mode", &Params::mode,
                                        {{"linear", GridMode::Linear},
                                         {"bilinear", GridMode::Linear},
                                         {"nearest", GridMode::Nearest},
                                         {"cubic", GridMode::Cubic},
                                         {"bicubic", GridMode::Cubic}});  // opset 16 says bilinear and bicubic
  rules.add("GridSample", nodeOf<Params>("GridSample", {align, padding, mode}), 16);
  rules.add("AffineGrid", nodeOf<Affine>("AffineGrid", {field("align_corners", &Affine::align_corners)}), 20);
}

}  // namespace opkit::ops::grid_sample
