#include "engine/import/onnx/onnx_dtype.h"
#include "engine/import/onnx/onnx_rules.h"
#include "ops/shape/eye_like_generated.h"
#include "ops/shape/shape_generated.h"
#include "ops/text/over_strings.h"

namespace opkit::ops::shape {
namespace {

Status shapeOnnx(OnnxNode& node) {
  ShapeParamsT params;
  params.start = static_cast<int>(node.intAttribute("start", params.start));
  params.end = static_cast<int>(node.intAttribute("end", params.end));
  return node.emit("Shape", node.inputs(), packParams(params));
}

Status eyeLikeOnnx(OnnxNode& node) {
  EyeLikeParamsT params;
  params.k = static_cast<int>(node.intAttribute("k", 0));
  if (node.hasAttribute("dtype")) {
    OPKIT_ASSIGN(const DType dtype, dtypeAttribute(node, "dtype"));
    params.dtype = static_cast<uint8_t>(dtype);
  }
  return node.emit("EyeLike", node.inputs(), packParams(params));
}

}  // namespace

void addOnnx(OnnxRules& rules) {
  rules.add("Shape", {{"start", 15}, {"end", 15}}, text::overStrings(shapeOnnx, {.made = text::Made::Numbers}));
  rules.add("Size", {}, text::overStrings(passThrough("Size"), {.made = text::Made::Numbers}));
  rules.add("EyeLike", {"dtype", "k"}, eyeLikeOnnx, 9);
}

}  // namespace opkit::ops::shape
