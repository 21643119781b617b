#include "engine/import/onnx/onnx_rules.h"
#include "ops/grid_sample/grid_sample.h"

namespace opkit::ops::grid_sample {
namespace {

/// Opset 16 calls the modes bilinear and bicubic.
Status gridSample(OnnxNode& node) {
  GridSampleParamsT params;
  OPKIT_ASSIGN(params.mode, choiceAttribute<GridMode>(node, "mode",
                                                      {{"linear", GridMode::Linear},
                                                       {"bilinear", GridMode::Linear},
                                                       {"nearest", GridMode::Nearest},
                                                       {"cubic", GridMode::Cubic},
                                                       {"bicubic", GridMode::Cubic}}));
  OPKIT_ASSIGN(params.padding, choiceAttribute<GridPadding>(node, "padding_mode",
                                                            {{"zeros", GridPadding::Zeros},
                                                             {"border", GridPadding::Border},
                                                             {"reflection", GridPadding::Reflection}}));
  params.align_corners = node.intAttribute("align_corners", 0) != 0;
  return node.emit("GridSample", node.inputs(), packParams(params));
}

Status affineGrid(OnnxNode& node) {
  AffineGridParamsT params;
  params.align_corners = node.intAttribute("align_corners", 0) != 0;
  return node.emit("AffineGrid", node.inputs(), packParams(params));
}

}  // namespace

void addOnnx(OnnxRules& rules) {
  rules.add("GridSample", {"align_corners", "mode", "padding_mode"}, gridSample, 16);
  rules.add("AffineGrid", {"align_corners"}, affineGrid, 20);
}

}  // namespace opkit::ops::grid_sample
