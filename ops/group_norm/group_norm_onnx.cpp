#include "engine/import/onnx/onnx_fields.h"
#include "ops/group_norm/group_norm_parts.h"

namespace opkit::ops::group_norm {

void addOnnx(OnnxRules& rules) {
  using Params = GroupNormParamsT;
  OnnxFields<Params> fields{field(required("num_groups"), &Params::num_groups), field("epsilon", &Params::epsilon),
                            only<Params>({"stash_type", 21}, 1)};
  rules.add("GroupNormalization", nodeOf("GroupNormalization", fields), 21);
  fields.push_back(fixed(&Params::by_group, true));
  rules.add("GroupNormalization", nodeOf("GroupNormalization", fields), 18, 20);
  rules.note("GroupNormalization", {}, "statistics are f32: stash_type is 1");
}

}  // namespace opkit::ops::group_norm
