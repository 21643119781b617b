#include "engine/import/onnx/onnx_rules.h"
#include "ops/roi_align/roi_align_parts.h"

namespace opkit::ops::roi_align {
namespace {

Status rule(OnnxNode& node) {
  RoiAlignParamsT params;
  OPKIT_ASSIGN(params.mode,
               choiceAttribute<RoiMode>(node, "mode", {{"avg", RoiMode::Mean}, {"max", RoiMode::Maximum}}));
  params.output_height = node.intAttribute("output_height", 1);
  params.output_width = node.intAttribute("output_width", 1);
  params.sampling_ratio = node.intAttribute("sampling_ratio", 0);
  params.spatial_scale = node.floatAttribute("spatial_scale", 1);
  const std::string transformation = node.stringAttribute("coordinate_transformation_mode", "half_pixel");
  if (transformation != "half_pixel" && transformation != "output_half_pixel")
    return Status::unsupported("coordinate_transformation_mode '{}' is none of half_pixel, output_half_pixel",
                               transformation);
  params.half_pixel = node.opset() >= 16 && transformation == "half_pixel";
  return node.emit("RoiAlign", node.inputs(), packParams(params));
}

}  // namespace

void addOnnx(OnnxRules& rules) {
  rules.add("RoiAlign", {"mode", "output_height", "output_width", "sampling_ratio", "spatial_scale"}, rule, 10, 15);
  rules.add(
      "RoiAlign",
      {"coordinate_transformation_mode", "mode", "output_height", "output_width", "sampling_ratio", "spatial_scale"},
      rule, 16);
}

}  // namespace opkit::ops::roi_align
