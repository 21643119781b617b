// Codes and zero points are bytes in ONNX; here they have types of their own.
#include <bit>
#include <cstring>

#include "engine/import/onnx/onnx_rules.h"
#include "engine/tensor/float_format.h"
#include "ops/matmul_nbits/matmul_nbits_parts.h"

namespace opkit::ops::matmul_nbits {
namespace {

/// The sizes of a node.
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
  if (blocks.rows < 1 || blocks.depth < 1 || blocks.size < 16 ||
      !std::has_single_bit(static_cast<uint64_t>(blocks.size)))
    return Status::invalidArgument("N and K must be 1 or more and block_size a power of two from 16 on, got {}, {}, {}",
                                   blocks.rows, blocks.depth, blocks.size);
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

Status rule(OnnxNode& node) {
  OPKIT_TRY(requireOnly(node, "weight_prepacked", 0));
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
  MatMulNBitsParamsT params;
  params.block_size = blocks.size;
  std::vector<int> inputs{node.input(0), node.addConstant("weights", std::move(weights)),
                          node.addConstant("scales", std::move(matrix)),
                          node.addConstant("zero_points", std::move(points))};
  if (node.input(5) >= 0) inputs.push_back(node.input(5));
  return node.emit("MatMulNBits", inputs, packParams(params));
}

}  // namespace

void addOnnx(OnnxRules& rules) {
  rules.add("com.microsoft::MatMulNBits", {"K", "N", "bits", "block_size", "accuracy_level", "weight_prepacked"}, rule);
  rules.note("com.microsoft::MatMulNBits", {"MatMulNBits"},
             "2, 4 or 8 bits; weights and zero points are constants, g_idx is absent, weight_prepacked is 0");
}

}  // namespace opkit::ops::matmul_nbits
