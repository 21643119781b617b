#include "engine/import/onnx/onnx_fields.h"
#include "ops/text/over_strings.h"
#include "ops/transpose/transpose_generated.h"

namespace opkit::ops::transpose {

void addOnnx(OnnxRules& rules) {
  using Params = TransposeParamsT;
  rules.add("Transpose", text::overStrings(nodeOf<Params>("Transpose", {field("perm", &Params::perm)})));
}

}  // namespace opkit::ops::transpose
