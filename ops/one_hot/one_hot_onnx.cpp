#include "engine/import/onnx/onnx_fields.h"
#include "ops/one_hot/one_hot_parts.h"

namespace opkit::ops::one_hot {

void addOnnx(OnnxRules& rules) {
  rules.add("OneHot", nodeOf<OneHotParamsT>("OneHot", {field("axis", &OneHotParamsT::axis)}), 9);
}

}  // namespace opkit::ops::one_hot
