#include "engine/import/onnx/onnx_fields.h"
#include "ops/dft/dft_parts.h"

namespace opkit::ops::dft {

/// Up to version 19 the axis is an attribute, and its default counts from the front.
void addOnnx(OnnxRules& rules) {
  using Params = DftParamsT;
  OnnxFields<Params> fields{field("inverse", &Params::inverse), field("onesided", &Params::onesided)};
  rules.add("DFT", nodeOf("DFT", fields), 20);
  fields.push_back(field("axis", &Params::axis, 1));
  rules.add("DFT", nodeOf("DFT", fields), 17, 19);
}

}  // namespace opkit::ops::dft
