#include "engine/import/onnx/onnx_fields.h"
#include "ops/trilu/trilu_parts.h"

namespace opkit::ops::trilu {

void addOnnx(OnnxRules& rules) {
  rules.add("Trilu", nodeOf<TriluParamsT>("Trilu", {field("upper", &TriluParamsT::upper)}), 14);
}

}  // namespace opkit::ops::trilu
