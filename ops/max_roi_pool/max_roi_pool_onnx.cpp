#include "engine/import/onnx/onnx_fields.h"
#include "ops/max_roi_pool/max_roi_pool_parts.h"

namespace opkit::ops::max_roi_pool {

void addOnnx(OnnxRules& rules) {
  using Params = MaxRoiPoolParamsT;
  rules.add("MaxRoiPool", nodeOf<Params>("MaxRoiPool", {field(required("pooled_shape"), &Params::pooled_shape),
                                                        field("spatial_scale", &Params::spatial_scale)}));
}

}  // namespace opkit::ops::max_roi_pool
