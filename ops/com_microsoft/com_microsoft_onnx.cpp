#include "ops/com_microsoft/com_microsoft.h"
#include "ops/unary/unary_generated.h"

namespace opkit::ops::com_microsoft {
namespace {

/// x, or x + bias if the node has that input.
TensorId plus(OnnxNode& node, TensorId x, size_t bias) {
  return !node.input(bias) ? x : node.emitIntermediate("Add", {x, node.input(bias)});
}

Status biasGelu(OnnxNode& node) { return node.emit("Gelu", {plus(node, node.input(0), 1)}); }
Status fastGelu(OnnxNode& node) { return node.emit("GeluTanh", {plus(node, node.input(0), 1)}); }

/// x * sigmoid(alpha x).
Status quickGelu(OnnxNode& node) {
  unary::UnaryParamsT params;
  params.alpha = node.floatAttribute("alpha", 1.702f);
  return node.emit("Swish", {node.input(0)}, packParams(params));
}

}  // namespace

std::string qualified(const char* type) { return std::string("com.microsoft::") + type; }

void addOnnx(OnnxRules& rules) {
  rules.add(qualified("Gelu"), {}, passThrough("Gelu"));
  rules.add(qualified("BiasGelu"), {}, biasGelu);
  rules.add(qualified("FastGelu"), {}, fastGelu);
  rules.add(qualified("QuickGelu"), {"alpha"}, quickGelu);
  addProductRules(rules);
  addNormRules(rules);
  addTensorRules(rules);
  addQuantisedRules(rules);
  addAttentionRules(rules);
  addGroupQueryRules(rules);
  addRotaryRules(rules);
  addEmbeddingRules(rules);
  addLayoutRules(rules);
  addBlockRules(rules);
  rules.note(qualified("Gelu"), {"Gelu"});
  rules.note(qualified("BiasGelu"), {"Add", "Gelu"});
  rules.note(qualified("FastGelu"), {"Add", "GeluTanh"});
  rules.note(qualified("QuickGelu"), {"Swish"});
}

}  // namespace opkit::ops::com_microsoft
