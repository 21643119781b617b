#include "engine/import/onnx/stash_field.h"
#include "ops/rms_norm/rms_norm_parts.h"

namespace opkit::ops::rms_norm {

void addOnnx(OnnxRules& rules) {
  using Params = RmsNormParamsT;
  const OnnxFields<Params> fields{field("axis", &Params::axis), field("epsilon", &Params::epsilon),
                                  stashType<Params>()};
  OnnxDeclaration rule = nodeOf("RMSNormalization", fields);
  rule.rule.inverse = inverseWithStash("RMSNormalization", fields);
  rules.add("RMSNormalization", std::move(rule), 23);
  rules.note("RMSNormalization", {}, "statistics are f32, or f64 of f64: stash_type is 1 or 11");
}

}  // namespace opkit::ops::rms_norm
