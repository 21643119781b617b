#include "engine/import/onnx/onnx_fields.h"
#include "ops/scatter/scatter_generated.h"
#include "ops/scatter/scatter_nd_generated.h"

namespace opkit::ops::scatter {
namespace {

template <class Params, class Reduction>
OnnxField<Params> reduction(Reduction Params::*member) {
  return choice({"reduction", 16}, member,
                {{"none", Reduction::None},
                 {"add", Reduction::Add},
                 {"mul", Reduction::Mul},
                 {"max", Reduction::Max},
                 {"min", Reduction::Min}});
}

}  // namespace

void addOnnx(OnnxRules& rules) {
  const OnnxField<ScatterParamsT> axis = field("axis", &ScatterParamsT::axis);
  rules.add(
      "Scatter",
      nodeOf<ScatterParamsT>("ScatterElements", {axis, fixed(&ScatterParamsT::reduction, ScatterReduction::None)}), 9);
  rules.add("ScatterElements", nodeOf<ScatterParamsT>("ScatterElements", {axis, reduction(&ScatterParamsT::reduction)}),
            11);
  rules.add("ScatterND", nodeOf<ScatterNdParamsT>("ScatterND", {reduction(&ScatterNdParamsT::reduction)}), 11);
  rules.note("Scatter", {"ScatterElements"});
}

}  // namespace opkit::ops::scatter
