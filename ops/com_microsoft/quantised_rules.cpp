// Rules of the quantised operators of com.microsoft.
#include <cstring>

#include "engine/tensor/float_format.h"
#include "ops/com_microsoft/com_microsoft.h"
#include "ops/com_microsoft/rule_parts.h"
#include "ops/concat/concat_generated.h"
#include "ops/quantize/dequantize_generated.h"
#include "ops/transpose/transpose_generated.h"
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
  concat::ConcatParamsT params;
  OPKIT_ASSIGN(const int64_t axis, requiredInt(node, "axis"));
  params.axis = static_cast<int>(axis);
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

/// The sizes of MatMulNBits.
struct Blocks {
  int64_t rows, depth, size, count;  // rows of the weights, K, elements of a block, blocks of a row
  DType dtype;
};

Result<Blocks> blocksOf(const OnnxNode& node) {
  Blocks blocks{};
  OPKIT_ASSIGN(blocks.rows, requiredInt(node, "N"));
  OPKIT_ASSIGN(blocks.depth, requiredInt(node, "K"));
  OPKIT_ASSIGN(blocks.size, requiredInt(node, "block_size"));
  const int64_t bits = node.intAttribute("bits", 4);
  if (bits != 2 && bits != 4 && bits != 8) return Status::unsupported("bits must be 2, 4 or 8, got {}", bits);
  if (blocks.rows < 1 || blocks.depth < 1 || blocks.size < 16 || blocks.size % 8 != 0)
    return Status::invalidArgument(
        "N and K must be 1 or more and block_size a multiple of 8 from 16 on, got {}, {}, {}", blocks.rows,
        blocks.depth, blocks.size);
  blocks.count = (blocks.depth + blocks.size - 1) / blocks.size;
  blocks.dtype = bits == 2 ? DType::UInt2 : bits == 4 ? DType::UInt4 : DType::UInt8;
  return blocks;
}

/// Weights [rows, blocks * size], with the bytes of the constant input 1.
Result<Tensor> weightsOf(const OnnxNode& node, const Blocks& blocks) {
  const Tensor* stored = node.constantInput(1);
  if (!stored) return Status::unsupported("the weights must be a constant");
  OPKIT_ASSIGN(Tensor weights, Tensor::onHost({blocks.dtype, {blocks.rows, blocks.count * blocks.size}}));
  if (stored->desc.dtype != DType::UInt8 || stored->sizeBytes() != weights.sizeBytes())
    return Status::invalidArgument("the weights must be {} bytes of u8, got {}", weights.sizeBytes(),
                                   stored->desc.toString());
  std::memcpy(weights.bytes().data(), stored->bytes().data(), weights.sizeBytes());
  return weights;
}

/// Zero points [rows, blocks]: the middle of the range without input 3, whose rows begin whole bytes.
Result<Tensor> zeroPointsOf(const OnnxNode& node, const Blocks& blocks) {
  OPKIT_ASSIGN(Tensor points, Tensor::onHost({blocks.dtype, {blocks.rows, blocks.count}}));
  const auto elements = static_cast<size_t>(points.desc.elements()), columns = static_cast<size_t>(blocks.count);
  const auto put = [&](size_t i, uint32_t code) {
    if (isPacked(blocks.dtype))
      writeCode(points, i, code);
    else
      points.data<uint8_t>()[i] = static_cast<uint8_t>(code);
  };
  const size_t rowBytes = bytesOf(blocks.dtype, blocks.count);
  if (node.input(3) < 0) {
    for (size_t i = 0; i < elements; ++i) put(i, 1u << (bitsOf(blocks.dtype) - 1));
    return points;
  }
  const Tensor* stored = node.constantInput(3);
  if (!stored || stored->desc.dtype != DType::UInt8)
    return Status::unsupported("zero points must be a constant of u8, got {}",
                               stored ? stored->desc.toString() : "one that is computed");
  if (stored->sizeBytes() != rowBytes * static_cast<size_t>(blocks.rows))
    return Status::invalidArgument("zero points must be {} bytes, got {}", rowBytes * static_cast<size_t>(blocks.rows),
                                   stored->desc.toString());
  const Tensor row{{blocks.dtype, {blocks.count}}, stored->buffer, stored->offsetBytes};
  for (size_t i = 0; i < elements; ++i) {
    Tensor own = row;
    own.offsetBytes += i / columns * rowBytes;
    put(i, isPacked(blocks.dtype) ? readCode(own, i % columns) : own.data<uint8_t>()[i % columns]);
  }
  return points;
}

/// a times the transposed weights, which are dequantised in blocks along the depth; plus the optional bias.
Status matMulBits(OnnxNode& node) {
  if (node.input(4) >= 0) return Status::unsupported("the input g_idx must be absent");
  OPKIT_ASSIGN(const Blocks blocks, blocksOf(node));
  OPKIT_ASSIGN(Tensor weights, weightsOf(node, blocks));
  OPKIT_ASSIGN(Tensor points, zeroPointsOf(node, blocks));
  const Tensor* scales = node.constantInput(2);
  if (!scales || scales->desc.elements() != blocks.rows * blocks.count)
    return Status::invalidArgument("the scales must be a constant of {} numbers, got {}", blocks.rows * blocks.count,
                                   scales ? scales->desc.toString() : "one that is computed");
  Tensor matrix = *scales;
  matrix.desc.shape = {blocks.rows, blocks.count};
  quantize::DequantizeParamsT params;
  params.axis = 1;
  params.block_size = blocks.size;
  int w = node.emitIntermediate(
      "DequantizeLinear",
      {node.addConstant("weights", std::move(weights)), node.addConstant("scales", std::move(matrix)),
       node.addConstant("zero_points", std::move(points))},
      packParams(params));
  if (blocks.count * blocks.size != blocks.depth)
    w = node.emitIntermediate("Slice", {w, node.addConstant("begin", std::vector<int64_t>{0}),
                                        node.addConstant("end", std::vector<int64_t>{blocks.depth}),
                                        node.addConstant("axis", std::vector<int64_t>{1})});
  transpose::TransposeParamsT swap;
  swap.perm = {1, 0};
  w = node.emitIntermediate("Transpose", {w}, packParams(swap));
  if (node.input(5) < 0) return node.emit("MatMul", {node.input(0), w});
  return node.emit("Add", {node.emitIntermediate("MatMul", {node.input(0), w}), node.input(5)});
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
  rules.add(qualified("QLinearConcat"), {"axis"}, concat);
  rules.add(qualified("MatMulIntegerToFloat"), {}, integerToFloat);
  rules.add(qualified("DynamicQuantizeMatMul"), {}, dynamicMatMul);
  rules.add(qualified("MatMulNBits"), {"K", "N", "bits", "block_size", "accuracy_level"}, matMulBits);
}

}  // namespace opkit::ops::com_microsoft
