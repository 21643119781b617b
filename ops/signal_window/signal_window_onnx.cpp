#include "engine/import/onnx/onnx_fields.h"
#include "ops/signal_window/signal_window_parts.h"

namespace opkit::ops::signal_window {

void addOnnx(OnnxRules& rules) {
  using Params = WindowParamsT;
  const OnnxFields<Params> fields{elementType("output_datatype", &Params::dtype), field("periodic", &Params::periodic)};
  for (const char* type : {"HannWindow", "HammingWindow", "BlackmanWindow"}) {
    OnnxDeclaration window = nodeOf(type, fields);
    window.rule.inverse =
        inverseOf<Params>({type}, [=](const Params& params, const OpNode& node, OnnxForm& form) -> Status {
          const Tensor* size = valueOf(node, 0);
          if (size && OracleTensor::fromTensor(*size).integer.at(0) < 1)
            return Status::unsupported("ONNX's shape inference takes no window without points");
          return writeFields(params, fields, form);
        });
    rules.add(type, std::move(window), 17);
  }
}

}  // namespace opkit::ops::signal_window
