#include "engine/import/onnx/onnx_fields.h"
#include "ops/signal_window/signal_window_parts.h"

namespace opkit::ops::signal_window {

void addOnnx(OnnxRules& rules) {
  using Params = WindowParamsT;
  const OnnxFields<Params> fields{elementType("output_datatype", &Params::dtype), field("periodic", &Params::periodic)};
  for (const char* type : {"HannWindow", "HammingWindow", "BlackmanWindow"}) rules.add(type, nodeOf(type, fields), 17);
}

}  // namespace opkit::ops::signal_window
