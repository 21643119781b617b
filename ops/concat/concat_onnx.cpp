#include "engine/import/onnx/onnx_fields.h"
#include "ops/concat/concat_generated.h"
#include "ops/text/over_strings.h"

namespace opkit::ops::concat {

void addOnnx(OnnxRules& rules) {
  using Params = ConcatParamsT;
  const text::StringPorts all{.last = SIZE_MAX};
  const auto old = nodeOf<Params>("Concat", {field("axis", &Params::axis, 1)});
  rules.add("Concat", text::overStrings(old, all), 1, 3);
  rules.add("Concat", text::overStrings(nodeOf<Params>("Concat", {field(required("axis"), &Params::axis)}), all), 4);
}

}  // namespace opkit::ops::concat
