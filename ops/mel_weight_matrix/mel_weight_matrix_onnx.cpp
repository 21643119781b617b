#include "engine/import/onnx/onnx_fields.h"
#include "ops/mel_weight_matrix/mel_weight_matrix_parts.h"

namespace opkit::ops::mel_weight_matrix {

void addOnnx(OnnxRules& rules) {
  using Params = MelParamsT;
  rules.add("MelWeightMatrix", nodeOf<Params>("MelWeightMatrix", {elementType("output_datatype", &Params::dtype)}), 17);
}

}  // namespace opkit::ops::mel_weight_matrix
