#include "engine/import/onnx/onnx_rules.h"
#include "ops/max_roi_pool/max_roi_pool_parts.h"

namespace opkit::ops::max_roi_pool {
namespace {

Status rule(OnnxNode& node) {
  MaxRoiPoolParamsT params;
  params.pooled_shape = node.intsAttribute("pooled_shape");
  params.spatial_scale = node.floatAttribute("spatial_scale", 1);
  return node.emit("MaxRoiPool", node.inputs(), packParams(params));
}

}  // namespace

void addOnnx(OnnxRules& rules) { rules.add("MaxRoiPool", {required("pooled_shape"), "spatial_scale"}, rule); }

}  // namespace opkit::ops::max_roi_pool
