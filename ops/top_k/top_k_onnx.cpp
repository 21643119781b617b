#include "engine/import/onnx/onnx_rules.h"
#include "ops/top_k/top_k_parts.h"

namespace opkit::ops::top_k {
namespace {

/// k is an attribute.
Status attributeRule(OnnxNode& node) {
  TopKParamsT params;
  params.axis = static_cast<int>(node.intAttribute("axis", -1));
  OPKIT_ASSIGN(const int64_t k, requiredInt(node, "k"));
  return node.emit("TopK", {node.input(0), node.addConstant("k", std::vector{k})}, packParams(params));
}

/// The order of unsorted results is undefined in ONNX: they come sorted.
Status inputRule(OnnxNode& node) {
  TopKParamsT params;
  params.axis = static_cast<int>(node.intAttribute("axis", -1));
  params.largest = node.intAttribute("largest", 1) != 0;
  return node.emit("TopK", node.inputs(), packParams(params));
}

}  // namespace

void addOnnx(OnnxRules& rules) {
  rules.add("TopK", {"axis", "k"}, attributeRule, 1, 9);
  rules.add("TopK", {"axis"}, inputRule, 10, 10);
  rules.add("TopK", {"axis", "largest", "sorted"}, inputRule, 11);
}

}  // namespace opkit::ops::top_k
