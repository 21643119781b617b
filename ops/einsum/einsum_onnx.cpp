#include "engine/import/onnx/onnx_fields.h"
#include "ops/einsum/einsum_parts.h"

namespace opkit::ops::einsum {

void addOnnx(OnnxRules& rules) {
  rules.add("Einsum", nodeOf<EinsumParamsT>("Einsum", {field(required("equation"), &EinsumParamsT::equation)}), 12);
}

}  // namespace opkit::ops::einsum
