#include "engine/import/onnx/onnx_fields.h"
#include "ops/hardmax/hardmax_parts.h"

namespace opkit::ops::hardmax {

void addOnnx(OnnxRules& rules) {
  using Params = HardmaxParamsT;
  rules.add("Hardmax", nodeOf<Params>("Hardmax", {field("axis", &Params::axis, 1), fixed(&Params::flatten, true)}), 1,
            12);
  rules.add("Hardmax", nodeOf<Params>("Hardmax", {field("axis", &Params::axis), fixed(&Params::flatten, false)}), 13);
}

}  // namespace opkit::ops::hardmax
