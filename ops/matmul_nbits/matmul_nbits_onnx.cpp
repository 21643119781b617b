// Codes and zero points are bytes in ONNX; here they have types of their own. What the kernels do not take becomes a
// product with weights in floats.
#include <bit>
#include <cstring>
#include <limits>

#include "engine/import/onnx/onnx_fields.h"
#include "engine/tensor/float_format.h"
#include "ops/com_microsoft/rule_parts.h"
#include "ops/gather/gather_generated.h"
#include "ops/matmul_nbits/matmul_nbits_parts.h"

namespace opkit::ops::matmul_nbits {
namespace {

/// The sizes of a node.
struct Blocks {
  int64_t rows, depth, size, count;  // rows of the weights, K, elements of a block, blocks of a row
  int bits;
  DType dtype;
};

Result<Blocks> blocksOf(const OnnxNode& node) {
  Blocks blocks{};
  OPKIT_ASSIGN(blocks.rows, requiredInt(node, "N"));
  OPKIT_ASSIGN(blocks.depth, requiredInt(node, "K"));
  OPKIT_ASSIGN(blocks.size, requiredInt(node, "block_size"));
  const int64_t bits = node.intAttribute("bits", 4);
  if (bits != 2 && bits != 4 && bits != 8) return Status::unsupported("bits must be 2, 4 or 8, got {}", bits);
  constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
  if (blocks.rows < 1 || blocks.depth < 1 || blocks.size < 16 || blocks.rows > kMost || blocks.depth > kMost ||
      blocks.size > kMost || !std::has_single_bit(static_cast<uint64_t>(blocks.size)))
    return Status::invalidArgument(
        "N and K must be in [1, {}] and block_size a power of two from 16 on, got {}, {}, {}", kMost, blocks.rows,
        blocks.depth, blocks.size);
  blocks.count = (blocks.depth + blocks.size - 1) / blocks.size;
  blocks.bits = static_cast<int>(bits);
  blocks.dtype = bits == 2 ? DType::UInt2 : bits == 4 ? DType::UInt4 : DType::UInt8;
  return blocks;
}

/// Weights [rows, blocks * size], with the bytes of the constant input 1.
Result<Tensor> weightsOf(const OnnxNode& node, const Blocks& blocks) {
  const Tensor& stored = *node.constantInput(1);
  OPKIT_ASSIGN(Tensor weights, Tensor::onHost({blocks.dtype, {blocks.rows, blocks.count * blocks.size}}));
  if (stored.desc.dtype != DType::UInt8 || stored.sizeBytes() != weights.sizeBytes())
    return Status::invalidArgument("the weights must be {} bytes of u8, got {}", weights.sizeBytes(),
                                   stored.desc.toString());
  std::memcpy(weights.bytes().data(), stored.bytes().data(), weights.sizeBytes());
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
  if (!node.input(3)) {
    for (size_t i = 0; i < elements; ++i) put(i, 1u << (bitsOf(blocks.dtype) - 1));
    return points;
  }
  const Tensor* stored = node.constantInput(3);
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

/// Whether the kernels take the node: all but a and the bias are constants, zero points are codes.
bool isPlain(const OnnxNode& node) {
  const Tensor* points = node.constantInput(3);
  return node.constantInput(1) && node.constantInput(2) && !node.input(4) &&
         (!node.input(3) || (points && points->desc.dtype == DType::UInt8));
}

Status emitPlain(OnnxNode& node, const Blocks& blocks) {
  OPKIT_ASSIGN(Tensor weights, weightsOf(node, blocks));
  OPKIT_ASSIGN(Tensor points, zeroPointsOf(node, blocks));
  Tensor matrix = *node.constantInput(2);
  if (matrix.desc.elements() != blocks.rows * blocks.count)
    return Status::invalidArgument("the scales must be {} numbers, got {}", blocks.rows * blocks.count,
                                   matrix.desc.toString());
  matrix.desc.shape = {blocks.rows, blocks.count};
  MatMulNBitsParamsT params;
  params.block_size = blocks.size;
  std::vector<TensorId> inputs{node.input(0), node.addConstant("weights", std::move(weights)),
                               node.addConstant("scales", std::move(matrix)),
                               node.addConstant("zero_points", std::move(points))};
  if (node.input(5)) inputs.push_back(node.input(5));
  return node.emit("MatMulNBits", inputs, packParams(params));
}

/// The weights as floats, by nodes.
class RealWeights {
 public:
  RealWeights(OnnxNode& node, const Blocks& blocks) : node_(node), blocks_(blocks), parts_(node) {}

  /// [K, N]: (code - zero point) * scale, those of the block of each k.
  Result<TensorId> turned() {
    OPKIT_ASSIGN(const TensorId points, zeroPoints());
    const TensorId scales = parts_.reshapedTo(floats(node_.input(2)), {blocks_.rows, blocks_.count});
    const bool isGrouped = node_.input(4) != TensorId();
    const int64_t stored = blocks_.count * blocks_.size;
    TensorId codes = floats(codesOf(node_.input(1), stored, isGrouped ? blocks_.depth : stored));
    if (!isGrouped) codes = parts_.reshapedTo(codes, {blocks_.rows, blocks_.count, blocks_.size});
    const auto spread = [&](TensorId perBlock) {
      return isGrouped ? grouped(perBlock) : parts_.unsqueezed(perBlock, 2);
    };
    const TensorId differences = parts_.pair("Sub", codes, points ? spread(points) : middle());
    TensorId weights = parts_.pair("Mul", differences, spread(scales));
    if (!isGrouped) weights = firstOf(parts_.reshapedTo(weights, {blocks_.rows, stored}), blocks_.depth, 1);
    return parts_.transposed(weights, {1, 0});
  }

  TensorId floats(TensorId x) { return parts_.cast(x, cast::ElementType::f32); }

 private:
  /// The first `columns` codes of rows of `stored` ones, which begin whole bytes.
  TensorId codesOf(TensorId bytes, int64_t stored, int64_t columns) {
    const auto rowBytes = static_cast<int64_t>(bytesOf(blocks_.dtype, stored));
    const TensorId codes = parts_.unpacked(parts_.reshapedTo(bytes, {blocks_.rows, rowBytes}), blocks_.bits);
    return columns == rowBytes * 8 / blocks_.bits ? codes : firstOf(codes, columns, 1);
  }
  TensorId firstOf(TensorId x, int64_t count, int64_t axis) {
    return parts_.sliced(x, parts_.list({0}), parts_.list({count}), axis);
  }
  TensorId middle() { return node_.addConstant("middle", static_cast<float>(1 << (blocks_.bits - 1))); }

  /// [N, blocks]; absent without them.
  Result<TensorId> zeroPoints() {
    const TensorId input = node_.input(3);
    if (!input) return TensorId();
    OPKIT_ASSIGN(const DType dtype, node_.declaredType(3));
    if (dtype == DType::UInt8) return floats(codesOf(input, blocks_.count, blocks_.count));
    return parts_.reshapedTo(floats(input), {blocks_.rows, blocks_.count});
  }
  /// One value per k, of the block that g_idx gives it; g_idx may count the padding of the last block too.
  TensorId grouped(TensorId perBlock) {
    gather::GatherParamsT params;
    params.axis = 1;
    return node_.emitIntermediate("Gather", {perBlock, firstOf(node_.input(4), blocks_.depth, 0)}, packParams(params));
  }

  OnnxNode& node_;
  const Blocks& blocks_;
  com_microsoft::RuleParts parts_;
};

Status rule(OnnxNode& node) {
  OPKIT_TRY(requireOnly(node, "weight_prepacked", 0));
  OPKIT_ASSIGN(const Blocks blocks, blocksOf(node));
  if (isPlain(node)) return emitPlain(node, blocks);
  RealWeights real(node, blocks);
  OPKIT_ASSIGN(const TensorId weights, real.turned());
  TensorId y = node.emitIntermediate("MatMul", {real.floats(node.input(0)), weights});
  if (node.input(5)) y = node.emitIntermediate("Add", {y, real.floats(node.input(5))});
  return node.emit("CastLike", {y, node.input(0)});
}

/// Codes [rows, columns] as bytes; the codes of a row begin a byte.
Result<Tensor> bytesOfRows(const Tensor& codes, Shape shape) {
  OPKIT_ASSIGN(Tensor bytes, Tensor::onHost({DType::UInt8, std::move(shape)}));
  std::ranges::fill(bytes.bytes(), std::byte{0});
  const int64_t rows = codes.desc.shape[0], columns = codes.desc.shape[1];
  const size_t rowBytes = bytesOf(codes.desc.dtype, columns);
  if (bytes.sizeBytes() != rowBytes * static_cast<size_t>(rows))
    return Status::internal("{} as {}", codes.desc.toString(), bytes.desc.toString());
  for (size_t row = 0; row < static_cast<size_t>(rows); ++row) {
    Tensor own{{codes.desc.dtype, {columns}}, bytes.buffer, bytes.offsetBytes + row * rowBytes};
    for (size_t i = 0, from = row * static_cast<size_t>(columns); i < static_cast<size_t>(columns); ++i) {
      if (isPacked(codes.desc.dtype))
        writeCode(own, i, readCode(codes, from + i));
      else
        own.data<uint8_t>()[i] = codes.data<uint8_t>()[from + i];
    }
  }
  return bytes;
}

/// Weights, scales and zero points become constants.
Status write(const MatMulNBitsParamsT& params, const OpNode& node, OnnxForm& form) {
  const Tensor *weights = valueOf(node, 1), *scales = valueOf(node, 2), *points = valueOf(node, 3);
  if (!weights || !scales || !points || !node.inputs[0] || node.inputs[0]->shape.empty())
    return Status::unsupported("MatMulNBits of ONNX Runtime packs weights and zero points");
  const int64_t rows = weights->desc.shape[0], stored = weights->desc.shape[1], count = points->desc.shape[1];
  const DType dtype = weights->desc.dtype;
  form.attributes = {{"N", rows},
                     {"K", node.inputs[0]->shape.back()},
                     {"bits", int64_t{bitsOf(dtype)}},
                     {"block_size", params.block_size}};
  const auto blockBytes = static_cast<int64_t>(bytesOf(dtype, params.block_size));
  OPKIT_ASSIGN(form.inputs[1], bytesOfRows(*weights, {rows, stored / params.block_size, blockBytes}));
  form.inputs[2] = *scales;
  OPKIT_ASSIGN(form.inputs[3], bytesOfRows(*points, {rows, static_cast<int64_t>(bytesOf(dtype, count))}));
  if (form.inputs.size() > 4) form.inputs.insert(form.inputs.begin() + 4, OnnxInput());
  return Status::ok();
}

}  // namespace

void addOnnx(OnnxRules& rules) {
  rules.add("com.microsoft::MatMulNBits", {"K", "N", "bits", "block_size", "accuracy_level", "weight_prepacked"},
            {rule, inverseOf<MatMulNBitsParamsT>({"MatMulNBits"}, write)});
  rules.note("com.microsoft::MatMulNBits", {"MatMulNBits", "Gather", "Sub", "Mul", "MatMul", "Add"},
             "2, 4 or 8 bits; weight_prepacked is 0");
}

}  // namespace opkit::ops::matmul_nbits
