#include "engine/import/onnx/onnx_fields.h"
#include "ops/top_k/top_k_parts.h"

namespace opkit::ops::top_k {
namespace {

using Params = TopKParamsT;

OnnxField<Params> axis() { return field("axis", &Params::axis); }

/// k is an attribute.
Status attributeRule(OnnxNode& node) {
  OPKIT_ASSIGN(const Params params, readFields<Params>(node, {axis()}));
  const TensorId k = node.addConstant("k", std::vector{node.intAttribute("k", 0)});
  return node.emit("TopK", {node.input(0), k}, packParams(params));
}

}  // namespace

void addOnnx(OnnxRules& rules) {
  rules.add("TopK", {"axis", required("k")}, attributeRule, 1, 9);
  // The order of unsorted results is undefined in ONNX: they come sorted.
  rules.add("TopK",
            nodeOf<Params>("TopK", {axis(), field({"largest", 11}, &Params::largest), ignored<Params>({"sorted", 11})}),
            10);
}

}  // namespace opkit::ops::top_k
