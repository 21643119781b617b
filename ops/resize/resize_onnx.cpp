#include "engine/import/onnx/onnx_rules.h"
#include "ops/resize/resize.h"

namespace opkit::ops::resize {
namespace {

Result<ResizeMode> modeOf(const OnnxNode& node) {
  return choiceAttribute<ResizeMode>(node, "mode",
                                     {{"nearest", ResizeMode::Nearest},
                                      {"linear", ResizeMode::Linear},
                                      {"cubic", ResizeMode::Cubic},
                                      {"bilinear", ResizeMode::Linear}});
}

Status resize(OnnxNode& node) {
  ResizeParamsT params;
  OPKIT_ASSIGN(params.mode, modeOf(node));
  OPKIT_ASSIGN(params.coordinate_mode,
               choiceAttribute<CoordinateMode>(node, "coordinate_transformation_mode",
                                               {{"half_pixel", CoordinateMode::HalfPixel},
                                                {"half_pixel_symmetric", CoordinateMode::HalfPixelSymmetric},
                                                {"pytorch_half_pixel", CoordinateMode::PytorchHalfPixel},
                                                {"align_corners", CoordinateMode::AlignCorners},
                                                {"asymmetric", CoordinateMode::Asymmetric},
                                                {"tf_half_pixel_for_nn", CoordinateMode::TfHalfPixelForNn},
                                                {"tf_crop_and_resize", CoordinateMode::TfCropAndResize}}));
  OPKIT_ASSIGN(params.nearest_mode, choiceAttribute<NearestMode>(node, "nearest_mode",
                                                                 {{"round_prefer_floor", NearestMode::RoundPreferFloor},
                                                                  {"round_prefer_ceil", NearestMode::RoundPreferCeil},
                                                                  {"floor", NearestMode::Floor},
                                                                  {"ceil", NearestMode::Ceil}}));
  OPKIT_ASSIGN(params.aspect_policy, choiceAttribute<AspectPolicy>(node, "keep_aspect_ratio_policy",
                                                                   {{"stretch", AspectPolicy::Stretch},
                                                                    {"not_larger", AspectPolicy::NotLarger},
                                                                    {"not_smaller", AspectPolicy::NotSmaller}}));
  params.cubic_coeff_a = node.floatAttribute("cubic_coeff_a", -0.75f);
  params.exclude_outside = node.intAttribute("exclude_outside", 0) != 0;
  params.antialias = node.intAttribute("antialias", 0) != 0;
  params.extrapolation_value = node.floatAttribute("extrapolation_value", 0.0f);
  params.axes = node.intsAttribute("axes");
  return node.emit("Resize", node.inputs(), packParams(params));
}

/// Upsample, and Resize-10: outputs lie at o / scale. Only Resize-10 may shrink an axis, and ONNX's own example of it
/// takes the element behind.
Status scale(OnnxNode& node) {
  ResizeParamsT params;
  OPKIT_ASSIGN(params.mode, modeOf(node));
  params.coordinate_mode = CoordinateMode::Asymmetric;
  params.nearest_mode = NearestMode::FloorUpCeilDown;
  int scales = node.input(1);
  if (node.hasAttribute("scales")) {
    const std::vector<float> listed = node.floatsAttribute("scales");
    OPKIT_ASSIGN(Tensor values, Tensor::fromValues({DType::Float32, {static_cast<int64_t>(listed.size())}}, listed));
    scales = node.addConstant("scales", std::move(values));
  }
  return node.emit("Resize", {node.input(0), -1, scales}, packParams(params));
}

}  // namespace

void addOnnx(OnnxRules& rules) {
  rules.add("Upsample", {"mode", required("scales")}, scale, 7, 8);
  rules.add("Upsample", {"mode"}, scale, 9, 9);
  rules.add("Resize", {"mode"}, scale, 10, 10);
  rules.add("Resize",
            {{"antialias", 18},
             {"axes", 18},
             "coordinate_transformation_mode",
             "cubic_coeff_a",
             "exclude_outside",
             "extrapolation_value",
             {"keep_aspect_ratio_policy", 18},
             "mode",
             "nearest_mode"},
            resize, 11);
  rules.note("Upsample", {"Resize"});
}

}  // namespace opkit::ops::resize
