// Rules of the quantised operators of com.microsoft.
#include "engine/import/onnx/onnx_fields.h"
#include "ops/com_microsoft/com_microsoft.h"
#include "ops/com_microsoft/rule_parts.h"
#include "ops/concat/concat_generated.h"
#include "ops/unary/unary_generated.h"

namespace opkit::ops::com_microsoft {
namespace {

/// Inputs without the absent ones at the end.
std::vector<int> trimmed(std::vector<int> inputs) {
  while (!inputs.empty() && inputs.back() < 0) inputs.pop_back();
  return inputs;
}

/// Inputs: x, its scale and zero point, then scale and zero point of the output.
Status sigmoid(OnnxNode& node) {
  return emitQuantized(node, node.emitIntermediate("Sigmoid", {dequantized(node, 0)}), 3);
}
Status leakyRelu(OnnxNode& node) {
  unary::UnaryParamsT params;
  params.alpha = node.floatAttribute("alpha", 0.01f);
  return emitQuantized(node, node.emitIntermediate("LeakyRelu", {dequantized(node, 0)}, packParams(params)), 3);
}
/// Inputs: scale and zero point of the output, then x, scale and zero point of each part.
Status concat(OnnxNode& node) {
  using Params = concat::ConcatParamsT;
  OPKIT_ASSIGN(const Params params, readFields<Params>(node, {field("axis", &Params::axis)}));
  if (node.inputCount() < 5 || node.inputCount() % 3 != 2)
    return Status::invalidArgument("expected a scale, a zero point and three inputs per part, found {} inputs",
                                   node.inputCount());
  std::vector<int> parts;
  for (size_t i = 2; i < node.inputCount(); i += 3) parts.push_back(dequantized(node, i));
  return emitQuantized(node, node.emitIntermediate("Concat", std::move(parts), packParams(params)), 0);
}

/// The product of integers times both scales, plus the optional bias.
Status emitScaled(OnnxNode& node, std::vector<int> product, int scaleA, int scaleB, int bias) {
  const ScaledProduct made = scaledProduct(node, std::move(product), scaleA, scaleB);
  if (bias < 0) return node.emit("Mul", {made.product, made.scale});
  return node.emit("Add", {node.emitIntermediate("Mul", {made.product, made.scale}), bias});
}

/// Inputs a, b, their scales, their zero points, bias.
Status integerToFloat(OnnxNode& node) {
  return emitScaled(node, {node.input(0), node.input(1), node.input(4), node.input(5)}, node.input(2), node.input(3),
                    node.input(6));
}
/// Inputs a (f32), b, its scale, its zero point, bias. a is quantised to u8 by its range.
Status dynamicMatMul(OnnxNode& node) {
  const std::vector<int> a = node.emitIntermediates("DynamicQuantizeLinear", {node.input(0)}, 3);
  return emitScaled(node, {a[0], node.input(1), a[2], node.input(3)}, a[1], node.input(2), node.input(4));
}

}  // namespace

int dequantized(OnnxNode& node, size_t first) {
  return node.emitIntermediate("DequantizeLinear",
                               trimmed({node.input(first), node.input(first + 1), node.input(first + 2)}));
}
Status emitQuantized(OnnxNode& node, int y, size_t first) {
  return node.emit("QuantizeLinear", trimmed({y, node.input(first), node.input(first + 1)}));
}

ScaledProduct scaledProduct(OnnxNode& node, std::vector<int> inputs, int scaleA, int scaleB) {
  const int integers = node.emitIntermediate("MatMulInteger", trimmed(std::move(inputs)));
  return {RuleParts(node).cast(integers, cast::ElementType::f32), node.emitIntermediate("Mul", {scaleA, scaleB})};
}

void addQuantisedRules(OnnxRules& rules) {
  rules.add(qualified("QLinearSigmoid"), {}, sigmoid);
  rules.add(qualified("QLinearLeakyRelu"), {"alpha"}, leakyRelu);
  rules.add(qualified("QLinearConcat"), {required("axis")}, concat);
  rules.add(qualified("MatMulIntegerToFloat"), {}, integerToFloat);
  rules.add(qualified("DynamicQuantizeMatMul"), {}, dynamicMatMul);
  rules.note(qualified("QLinearSigmoid"), {"DequantizeLinear", "Sigmoid", "QuantizeLinear"});
  rules.note(qualified("QLinearLeakyRelu"), {"DequantizeLinear", "LeakyRelu", "QuantizeLinear"});
  rules.note(qualified("QLinearConcat"), {"DequantizeLinear", "Concat", "QuantizeLinear"});
  rules.note(qualified("MatMulIntegerToFloat"), {"MatMulInteger", "Cast", "Mul", "Add"});
  rules.note(qualified("DynamicQuantizeMatMul"), {"DynamicQuantizeLinear", "MatMulInteger", "Cast", "Mul", "Add"});
}

}  // namespace opkit::ops::com_microsoft
