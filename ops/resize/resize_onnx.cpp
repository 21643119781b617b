#include "engine/import/onnx/onnx_fields.h"
#include "ops/resize/resize.h"

namespace opkit::ops::resize {
namespace {

using Params = ResizeParamsT;

OnnxField<Params> mode() {
  return choice("mode", &Params::mode,
                {{"nearest", ResizeMode::Nearest},
                 {"linear", ResizeMode::Linear},
                 {"cubic", ResizeMode::Cubic},
                 {"bilinear", ResizeMode::Linear}});
}

OnnxField<Params> coordinateMode() {
  return choice("coordinate_transformation_mode", &Params::coordinate_mode,
                {{"half_pixel", CoordinateMode::HalfPixel},
                 {"half_pixel_symmetric", CoordinateMode::HalfPixelSymmetric},
                 {"pytorch_half_pixel", CoordinateMode::PytorchHalfPixel},
                 {"align_corners", CoordinateMode::AlignCorners},
                 {"asymmetric", CoordinateMode::Asymmetric},
                 {"tf_half_pixel_for_nn", CoordinateMode::TfHalfPixelForNn},
                 {"tf_crop_and_resize", CoordinateMode::TfCropAndResize}});
}

OnnxField<Params> nearestMode() {
  return choice("nearest_mode", &Params::nearest_mode,
                {{"round_prefer_floor", NearestMode::RoundPreferFloor},
                 {"round_prefer_ceil", NearestMode::RoundPreferCeil},
                 {"floor", NearestMode::Floor},
                 {"ceil", NearestMode::Ceil}});
}

OnnxField<Params> aspectPolicy() {
  return choice({"keep_aspect_ratio_policy", 18}, &Params::aspect_policy,
                {{"stretch", AspectPolicy::Stretch},
                 {"not_larger", AspectPolicy::NotLarger},
                 {"not_smaller", AspectPolicy::NotSmaller}});
}

/// Upsample, and Resize-10: outputs lie at o / scale. Only Resize-10 may shrink an axis, and ONNX's own example of it
/// takes the element behind.
Status scale(OnnxNode& node) {
  OPKIT_ASSIGN(Params params, readFields<Params>(node, {mode()}));
  params.coordinate_mode = CoordinateMode::Asymmetric;
  params.nearest_mode = NearestMode::FloorUpCeilDown;
  TensorId scales = node.input(1);
  if (node.hasAttribute("scales")) {
    const std::vector<float> listed = node.floatsAttribute("scales");
    OPKIT_ASSIGN(Tensor values, Tensor::fromValues({DType::Float32, {static_cast<int64_t>(listed.size())}}, listed));
    scales = node.addConstant("scales", std::move(values));
  }
  return node.emit("Resize", {node.input(0), {}, scales}, packParams(params));
}

/// Before opset 13 the region and the scales must be there; empty ones mean none.
Status writeBefore13(const OpNode&, OnnxForm& form) {
  form.inputs.resize(std::max<size_t>(form.inputs.size(), 3));
  for (const size_t i : {1, 2})
    if (std::holds_alternative<std::monostate>(form.inputs[i])) {
      OPKIT_ASSIGN(form.inputs[i], Tensor::onHost({DType::Float32, {0}}));
    }
  return Status::ok();
}

/// A policy needs sizes: with scales it means nothing, and ONNX's shape inference refuses it.
OnnxInverse withoutIdlePolicy(OnnxInverse inverse) {
  inverse.write = [write = inverse.write](const OpNode& node, OnnxForm& form) -> Status {
    OPKIT_TRY(write(node, form));
    if (node.inputs.size() > 2 && node.inputs[2]) form.attributes.erase("keep_aspect_ratio_policy");
    return Status::ok();
  };
  return inverse;
}

}  // namespace

void addOnnx(OnnxRules& rules) {
  OnnxDeclaration resize = nodeOf<Params>(
      "Resize",
      {mode(), coordinateMode(), nearestMode(), aspectPolicy(), field("cubic_coeff_a", &Params::cubic_coeff_a),
       field("exclude_outside", &Params::exclude_outside), field({"antialias", 18}, &Params::antialias),
       field("extrapolation_value", &Params::extrapolation_value), field({"axes", 18}, &Params::axes)});
  rules.add("Upsample", {"mode", required("scales")}, scale, 7, 8);
  rules.add("Upsample", {"mode"}, scale, 9, 9);
  rules.add("Resize", {"mode"}, scale, 10, 10);
  const OnnxInverse newer = withoutIdlePolicy(resize.rule.inverse);
  resize.rule.inverse.write = [newer](const OpNode& node, OnnxForm& form) -> Status {
    if (form.opset < 13) OPKIT_TRY(writeBefore13(node, form));
    return newer.write(node, form);
  };
  rules.add("Resize", resize, 11);
  rules.note("Upsample", {"Resize"});
}

}  // namespace opkit::ops::resize
