#include "engine/import/onnx/onnx_dtype.h"
#include "engine/import/onnx/onnx_rules.h"
#include "ops/signal_window/signal_window_parts.h"

namespace opkit::ops::signal_window {
namespace {

Status rule(OnnxNode& node) {
  WindowParamsT params;
  params.periodic = node.intAttribute("periodic", 1) != 0;
  OPKIT_ASSIGN(const DType dtype, dtypeAttribute(node, "output_datatype", 1));
  params.dtype = static_cast<uint8_t>(dtype);
  return node.emit(node.opType(), node.inputs(), packParams(params));
}

}  // namespace

void addOnnx(OnnxRules& rules) {
  for (const char* type : {"HannWindow", "HammingWindow", "BlackmanWindow"})
    rules.add(type, {"output_datatype", "periodic"}, rule, 17);
}

}  // namespace opkit::ops::signal_window
