#include "engine/import/onnx/onnx_dtype.h"
#include "engine/import/onnx/onnx_rules.h"
#include "ops/mel_weight_matrix/mel_weight_matrix_parts.h"

namespace opkit::ops::mel_weight_matrix {
namespace {

Status rule(OnnxNode& node) {
  MelParamsT params;
  OPKIT_ASSIGN(const DType dtype, dtypeAttribute(node, "output_datatype", 1));
  params.dtype = static_cast<uint8_t>(dtype);
  return node.emit("MelWeightMatrix", node.inputs(), packParams(params));
}

}  // namespace

void addOnnx(OnnxRules& rules) { rules.add("MelWeightMatrix", {"output_datatype"}, rule, 17); }

}  // namespace opkit::ops::mel_weight_matrix
