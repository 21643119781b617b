#include "engine/import/onnx/stash_field.h"
#include "ops/group_norm/group_norm_parts.h"

namespace opkit::ops::group_norm {

void addOnnx(OnnxRules& rules) {
  using Params = GroupNormParamsT;
  OnnxFields<Params> fields{field(required("num_groups"), &Params::num_groups), field("epsilon", &Params::epsilon),
                            stashType<Params>(21)};
  OnnxDeclaration newest = nodeOf("GroupNormalization", fields);
  newest.rule.inverse = inverseWithStash("GroupNormalization", fields);
  rules.add("GroupNormalization", std::move(newest), 21);
  fields.push_back(fixed(&Params::by_group, true));
  rules.add("GroupNormalization", nodeOf("GroupNormalization", fields), 18, 20);
  rules.note("GroupNormalization", {}, "statistics are f32, or f64 of f64: stash_type is 1 or 11");
}

}  // namespace opkit::ops::group_norm
