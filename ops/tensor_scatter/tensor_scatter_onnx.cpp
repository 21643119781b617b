#include "engine/import/onnx/onnx_fields.h"
#include "ops/tensor_scatter/tensor_scatter_parts.h"

namespace opkit::ops::tensor_scatter {

void addOnnx(OnnxRules& rules) {
  using Params = TensorScatterParamsT;
  const OnnxField<Params> mode =
      choice("mode", &Params::mode, {{"linear", WriteMode::Linear}, {"circular", WriteMode::Circular}});
  rules.add("TensorScatter", nodeOf<Params>("TensorScatter", {field("axis", &Params::axis), mode}), 24);
}

}  // namespace opkit::ops::tensor_scatter
