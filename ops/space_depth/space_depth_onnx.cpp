#include "engine/import/onnx/onnx_fields.h"
#include "ops/space_depth/space_depth_generated.h"
#include "ops/text/over_strings.h"

namespace opkit::ops::space_depth {

void addOnnx(OnnxRules& rules) {
  using Params = SpaceDepthParamsT;
  const OnnxField<Params> block = field(required("blocksize"), &Params::block),
                          order = choice({"mode", 11}, &Params::order,
                                         {{"DCR", Order::DepthColumnRow}, {"CRD", Order::ColumnRowDepth}});
  rules.add("DepthToSpace", text::overStrings(nodeOf<Params>("DepthToSpace", {block, order})));
  rules.add("SpaceToDepth", text::overStrings(nodeOf<Params>("SpaceToDepth", {block})));
}

}  // namespace opkit::ops::space_depth
