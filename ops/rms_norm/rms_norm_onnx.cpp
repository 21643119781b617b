#include "engine/import/onnx/onnx_fields.h"
#include "ops/rms_norm/rms_norm_parts.h"

namespace opkit::ops::rms_norm {

void addOnnx(OnnxRules& rules) {
  using Params = RmsNormParamsT;
  rules.add("RMSNormalization",
            nodeOf<Params>("RMSNormalization", {field("axis", &Params::axis), field("epsilon", &Params::epsilon),
                                                only<Params>("stash_type", 1)}),
            23);
  rules.note("RMSNormalization", {}, "statistics are f32: stash_type is 1");
}

}  // namespace opkit::ops::rms_norm
