#include "engine/import/onnx/onnx_fields.h"
#include "ops/gather/gather_generated.h"
#include "ops/gather/gather_nd_generated.h"
#include "ops/text/over_strings.h"

namespace opkit::ops::gather {

void addOnnx(OnnxRules& rules) {
  for (const char* type : {"Gather", "GatherElements"})
    rules.add(type, text::overStrings(nodeOf<GatherParamsT>(type, {field("axis", &GatherParamsT::axis)})));
  const OnnxField<GatherNdParamsT> batches = field({"batch_dims", 12}, &GatherNdParamsT::batch_dims);
  rules.add("GatherND", text::overStrings(nodeOf<GatherNdParamsT>("GatherND", {batches})));
}

}  // namespace opkit::ops::gather
