#include "engine/import/onnx/onnx_fields.h"
#include "ops/mean_variance_norm/mean_variance_norm_parts.h"

namespace opkit::ops::mean_variance_norm {

void addOnnx(OnnxRules& rules) {
  using Params = MeanVarianceNormParamsT;
  rules.add("MeanVarianceNormalization",
            nodeOf<Params>("MeanVarianceNormalization", {field("axes", &Params::axes, {0, 2, 3})}), 9);
}

}  // namespace opkit::ops::mean_variance_norm
