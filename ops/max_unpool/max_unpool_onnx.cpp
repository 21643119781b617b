#include "engine/import/onnx/onnx_fields.h"
#include "ops/max_unpool/max_unpool_parts.h"

namespace opkit::ops::max_unpool {

void addOnnx(OnnxRules& rules) {
  using Params = MaxUnpoolParamsT;
  rules.add("MaxUnpool",
            nodeOf<Params>("MaxUnpool", {field(required("kernel_shape"), &Params::kernel_shape),
                                         field("strides", &Params::strides), field("pads", &Params::pads)}),
            9);
}

}  // namespace opkit::ops::max_unpool
