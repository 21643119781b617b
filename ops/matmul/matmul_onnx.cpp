#include "engine/import/onnx/onnx_rules.h"

namespace opkit::ops::matmul {

void addOnnx(OnnxRules& rules) { rules.add("MatMul", {}, passThrough("MatMul")); }

}  // namespace opkit::ops::matmul
