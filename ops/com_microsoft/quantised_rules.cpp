// Rules of the quantised operators of com.microsoft.
#include "engine/import/onnx/onnx_fields.h"
#include "ops/com_microsoft/com_microsoft.h"
#include "ops/com_microsoft/rule_parts.h"
#include "ops/concat/concat_generated.h"
#include "ops/softmax/softmax_generated.h"
#include "ops/unary/unary_generated.h"

namespace opkit::ops::com_microsoft {
namespace {

/// Inputs without the absent ones at the end.
std::vector<TensorId> trimmed(std::vector<TensorId> inputs) {
  while (!inputs.empty() && !inputs.back()) inputs.pop_back();
  return inputs;
}

/// Inputs: x, its scale and zero point, then scale and zero point of the output.
Status sigmoid(OnnxNode& node) {
  return emitQuantized(node, node.emitIntermediate("Sigmoid", {dequantized(node, 0)}), 3, node.input(0));
}
Status leakyRelu(OnnxNode& node) {
  unary::UnaryParamsT params;
  params.alpha = node.floatAttribute("alpha", 0.01f);
  const TensorId y = node.emitIntermediate("LeakyRelu", {dequantized(node, 0)}, packParams(params));
  return emitQuantized(node, y, 3, node.input(0));
}
/// `opset` is that of the Softmax that was quantised: before 13 it covers all axes from `axis` on.
Status softmax(OnnxNode& node) {
  using Params = softmax::SoftmaxParamsT;
  OPKIT_ASSIGN(const int64_t opset, requiredInt(node, "opset"));
  OPKIT_ASSIGN(Params params, readFields<Params>(node, {field("axis", &Params::axis, -1)}));
  params.flatten = opset < 13;
  const TensorId y = node.emitIntermediate("Softmax", {dequantized(node, 0)}, packParams(params));
  return emitQuantized(node, y, 3, node.input(0));
}
/// Inputs: condition, x with scale and zero point, y with both, scale and zero point of the output.
Status where(OnnxNode& node) {
  const TensorId x = dequantized(node, 1), y = dequantized(node, 4);
  return emitQuantized(node, RuleParts(node).where(node.input(0), x, y), 7, node.input(1));
}
/// Inputs: scale and zero point of the output, then x, scale and zero point of each part.
Status concat(OnnxNode& node) {
  using Params = concat::ConcatParamsT;
  OPKIT_ASSIGN(const Params params, readFields<Params>(node, {field("axis", &Params::axis)}));
  if (node.inputCount() < 5 || node.inputCount() % 3 != 2)
    return Status::invalidArgument("expected a scale, a zero point and three inputs per part, found {} inputs",
                                   node.inputCount());
  std::vector<TensorId> parts;
  for (size_t i = 2; i < node.inputCount(); i += 3) parts.push_back(dequantized(node, i));
  const TensorId y = node.emitIntermediate("Concat", std::move(parts), packParams(params));
  return emitQuantized(node, y, 0, node.input(2));
}

/// The product of integers times both scales, plus the optional bias.
Status emitScaled(OnnxNode& node, std::vector<TensorId> product, TensorId scaleA, TensorId scaleB, TensorId bias) {
  const ScaledProduct made = scaledProduct(node, std::move(product), scaleA, scaleB);
  if (!bias) return node.emit("Mul", {made.product, made.scale});
  return node.emit("Add", {node.emitIntermediate("Mul", {made.product, made.scale}), bias});
}

/// Inputs a, b, their scales, their zero points, bias.
Status integerToFloat(OnnxNode& node) {
  return emitScaled(node, {node.input(0), node.input(1), node.input(4), node.input(5)}, node.input(2), node.input(3),
                    node.input(6));
}
/// Inputs a (f32), b, its scale, its zero point, bias. a is quantised to u8 by its range.
Status dynamicMatMul(OnnxNode& node) {
  const std::vector<TensorId> a = node.emitIntermediates("DynamicQuantizeLinear", {node.input(0)}, 3);
  return emitScaled(node, {a[0], node.input(1), a[2], node.input(3)}, a[1], node.input(2), node.input(4));
}

enum GemmInput : size_t { kA, kAScale, kAZeroPoint, kB, kBScale, kBZeroPoint, kC, kYScale, kYZeroPoint };

/// Rows and columns change places if the attribute says so.
TensorId operand(OnnxNode& node, size_t input, const char* isTransposed) {
  const TensorId x = node.input(input);
  return node.intAttribute(isTransposed, 0) != 0 ? RuleParts(node).transposed(x, {1, 0}) : x;
}

/// sum * multiplier, rounded to the type of the zero point of y. The sum is exact.
Status requantized(OnnxNode& node, TensorId sum, TensorId multiplier) {
  RuleParts parts(node);
  const TensorId scaled = parts.pair("Mul", sum, parts.pair("Div", multiplier, node.input(kYScale)));
  return node.emit("QuantizeLinear", {scaled, node.addConstant("one", 1.0f), node.input(kYZeroPoint)});
}

/// alpha * a_scale * b_scale * ((a - its zero point) (b - its zero point) + c), in 32-bit integers up to c.
Status gemm(OnnxNode& node) {
  const bool isQuantized = node.input(kYZeroPoint) != TensorId();
  if (isQuantized != (node.input(kYScale) != TensorId()))
    return Status::invalidArgument("y_scale and y_zero_point must both be given or both be absent");
  RuleParts parts(node);
  const float alpha = node.floatAttribute("alpha", 1);
  const TensorId a = operand(node, kA, "transA"), b = operand(node, kB, "transB");
  const TensorId aScale =
      alpha == 1 ? node.input(kAScale) : parts.pair("Mul", node.addConstant("alpha", alpha), node.input(kAScale));
  if (isQuantized && !node.input(kC))
    return node.emit("QLinearMatMul", {a, aScale, node.input(kAZeroPoint), b, node.input(kBScale),
                                       node.input(kBZeroPoint), node.input(kYScale), node.input(kYZeroPoint)});
  TensorId sum = node.emitIntermediate("MatMulInteger", {a, b, node.input(kAZeroPoint), node.input(kBZeroPoint)});
  if (node.input(kC)) sum = parts.pair("Add", sum, node.input(kC));
  sum = parts.cast(sum, cast::ElementType::f32);
  const TensorId scale = parts.pair("Mul", aScale, node.input(kBScale));
  return isQuantized ? requantized(node, sum, scale) : node.emit("Mul", {sum, scale});
}

}  // namespace

TensorId dequantized(OnnxNode& node, size_t first) {
  return node.emitIntermediate("DequantizeLinear",
                               trimmed({node.input(first), node.input(first + 1), node.input(first + 2)}));
}
Status emitQuantized(OnnxNode& node, TensorId y, size_t first, TensorId like) {
  TensorId zeroPoint = node.input(first + 1);
  if (!zeroPoint) zeroPoint = RuleParts(node).castLike(node.addConstant("zero", 0.0f), like);
  return node.emit("QuantizeLinear", {y, node.input(first), zeroPoint});
}

ScaledProduct scaledProduct(OnnxNode& node, std::vector<TensorId> inputs, TensorId scaleA, TensorId scaleB) {
  const TensorId integers = node.emitIntermediate("MatMulInteger", trimmed(std::move(inputs)));
  return {RuleParts(node).cast(integers, cast::ElementType::f32), node.emitIntermediate("Mul", {scaleA, scaleB})};
}

void addQuantisedRules(OnnxRules& rules) {
  rules.add(qualified("QLinearSigmoid"), {}, sigmoid);
  rules.add(qualified("QLinearLeakyRelu"), {"alpha"}, leakyRelu);
  rules.add(qualified("QLinearSoftmax"), {"axis", required("opset")}, softmax);
  rules.add(qualified("QLinearWhere"), {}, where);
  rules.add(qualified("QLinearConcat"), {required("axis")}, concat);
  rules.add(qualified("QGemm"), {"alpha", "transA", "transB"}, gemm);
  rules.add(qualified("MatMulIntegerToFloat"), {}, integerToFloat);
  rules.add(qualified("DynamicQuantizeMatMul"), {}, dynamicMatMul);
  rules.note(qualified("QLinearSigmoid"), {"DequantizeLinear", "Sigmoid", "QuantizeLinear"});
  rules.note(qualified("QLinearLeakyRelu"), {"DequantizeLinear", "LeakyRelu", "QuantizeLinear"});
  rules.note(qualified("QLinearSoftmax"), {"DequantizeLinear", "Softmax", "QuantizeLinear"});
  rules.note(qualified("QLinearWhere"), {"DequantizeLinear", "Where", "QuantizeLinear"});
  rules.note(qualified("QGemm"), {"QLinearMatMul", "MatMulInteger", "Add", "Mul", "QuantizeLinear"});
  rules.note(qualified("QLinearConcat"), {"DequantizeLinear", "Concat", "QuantizeLinear"});
  rules.note(qualified("MatMulIntegerToFloat"), {"MatMulInteger", "Cast", "Mul", "Add"});
  rules.note(qualified("DynamicQuantizeMatMul"), {"DynamicQuantizeLinear", "MatMulInteger", "Cast", "Mul", "Add"});
}

}  // namespace opkit::ops::com_microsoft
