#include "ops/conv/conv_onnx.h"
#include "ops/integer_conv/integer_conv_parts.h"

namespace opkit::ops::integer_conv {

void addOnnx(OnnxRules& rules) {
  for (const char* type : {"ConvInteger", "QLinearConv"}) rules.add(type, nodeOf(type, conv::convFields()), 10);
}

}  // namespace opkit::ops::integer_conv
