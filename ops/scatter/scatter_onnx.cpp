#include "engine/import/onnx/onnx_rules.h"
#include "ops/scatter/scatter_generated.h"
#include "ops/scatter/scatter_nd_generated.h"

namespace opkit::ops::scatter {
namespace {

template <class Reduction>
Result<Reduction> reductionOf(const OnnxNode& node) {
  return choiceAttribute<Reduction>(node, "reduction",
                                    {{"none", Reduction::None},
                                     {"add", Reduction::Add},
                                     {"mul", Reduction::Mul},
                                     {"max", Reduction::Max},
                                     {"min", Reduction::Min}});
}

Status elementsRule(OnnxNode& node) {
  ScatterParamsT params;
  params.axis = static_cast<int>(node.intAttribute("axis", 0));
  OPKIT_ASSIGN(params.reduction, reductionOf<ScatterReduction>(node));
  return node.emit("ScatterElements", node.inputs(), packParams(params));
}

Status ndRule(OnnxNode& node) {
  ScatterNdParamsT params;
  OPKIT_ASSIGN(params.reduction, reductionOf<ScatterNdReduction>(node));
  return node.emit("ScatterND", node.inputs(), packParams(params));
}

}  // namespace

void addOnnx(OnnxRules& rules) {
  rules.add("Scatter", {"axis"}, elementsRule, 9);  // the old name of ScatterElements
  rules.add("ScatterElements", {"axis"}, elementsRule, 11, 15);
  rules.add("ScatterElements", {"axis", "reduction"}, elementsRule, 16);
  rules.add("ScatterND", {}, ndRule, 11, 15);
  rules.add("ScatterND", {"reduction"}, ndRule, 16);
  rules.note("Scatter", {"ScatterElements"});
}

}  // namespace opkit::ops::scatter
