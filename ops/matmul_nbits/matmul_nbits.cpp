#include "ops/matmul_nbits/matmul_nbits.h"

#include <bit>

#include "engine/op/op_registry.h"
#include "engine/op/shape_rules.h"

namespace opkit::ops::matmul_nbits {
namespace {

const Shape* shapeOf(const ShapeArgs& args, size_t i) { return args.hasInput(i) ? &args.shape(i) : nullptr; }

Result<MatMulNBitsPlan> planOf(const ShapeArgs& args) {
  return planMatMulNBits(args.params<MatMulNBitsParams>(), args.shape(kA), args.shape(kWeights), args.shape(kScales),
                         shapeOf(args, kZeroPoints), shapeOf(args, kBias));
}

Result<std::vector<TensorDesc>> shapeRule(const ShapeArgs& args) {
  OPKIT_TRY(requireSameType(args, kZeroPoints, "zero_points", kWeights));
  OPKIT_ASSIGN(const MatMulNBitsPlan plan, planOf(args));
  Shape shape = args.shape(kA);
  shape.back() = plan.columns;
  return std::vector{TensorDesc{DType::Float32, std::move(shape)}};
}

double flops(const ShapeArgs& args, std::span<const TensorDesc> outputs) {
  return 2.0 * static_cast<double>(outputs[0].elements()) * static_cast<double>(args.shape(kA).back());
}

}  // namespace

Result<MatMulNBitsPlan> planMatMulNBits(const MatMulNBitsParamsT& params, const Shape& a, const Shape& weights,
                                        const Shape& scales, const Shape* zeroPoints, const Shape* bias) {
  const int64_t size = params.block_size;
  if (size < 16 || !std::has_single_bit(static_cast<uint64_t>(size)))
    return Status::invalidArgument("block_size must be a power of two from 16 on, got {}", size);
  if (a.empty() || a.back() < 1) return Status::invalidArgument("a must be [..., depth], got {}", toString(a));
  MatMulNBitsPlan plan;
  plan.depth = a.back();
  plan.rows = elementCount(a, 0, a.size() - 1);
  plan.blockSize = size;
  plan.blocks = (plan.depth + size - 1) / size;
  if (weights.size() != 2 || weights[1] != plan.blocks * size)
    return Status::invalidArgument("weights must be [columns, {}] for the depth {}, got {}", plan.blocks * size,
                                   plan.depth, toString(weights));
  plan.columns = weights[0];
  const Shape perBlock{plan.columns, plan.blocks};
  if (scales != perBlock)
    return Status::invalidArgument("scales must be {}, got {}", toString(perBlock), toString(scales));
  if (zeroPoints && *zeroPoints != perBlock)
    return Status::invalidArgument("zero_points must be {}, got {}", toString(perBlock), toString(*zeroPoints));
  if (bias && *bias != Shape{plan.columns})
    return Status::invalidArgument("bias must be [{}], got {}", plan.columns, toString(*bias));
  return plan;
}

void define(OpRegistry& registry) {
  constexpr DTypeSet kFloat{DType::Float32}, kCodes{DType::UInt2, DType::UInt4, DType::UInt8};
  registry.add({.type = "MatMulNBits",
                .summary = "product with the transpose of weights of 2, 4 or 8 bits that have a scale per block",
                .params = paramsSchema<MatMulNBitsParams>(kMatmulNbitsSchema),
                .inputs = {{"a", kFloat},
                           {"weights", kCodes},
                           {"scales", kFloat},
                           {"zero_points", kCodes, Port::Kind::Optional},
                           {"bias", kFloat, Port::Kind::Optional}},
                .outputs = {{"y", kFloat}},
                .numeric = NumericClass::Products,
                .inferShapes = shapeRule,
                .flops = flops,
                .oracle = reference,
                .computesAs = {{DType::BFloat16, DType::Float32}, {DType::Float16, DType::Float32}}});
}

}  // namespace opkit::ops::matmul_nbits
