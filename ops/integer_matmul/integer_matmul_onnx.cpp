#include "engine/import/onnx/onnx_rules.h"
#include "ops/integer_matmul/integer_matmul_parts.h"

namespace opkit::ops::integer_matmul {

void addOnnx(OnnxRules& rules) {
  rules.add("MatMulInteger", {}, passThrough("MatMulInteger"), 10);
  rules.add("QLinearMatMul", {}, passThrough("QLinearMatMul"), 10);
}

}  // namespace opkit::ops::integer_matmul
