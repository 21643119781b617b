// QLinearGlobalAveragePool as parts: the planes as rows of a matrix, times a column of ones with the scale 1 / n. The
// sums of that product wrap at 32 bits, so planes of more elements than they hold are averaged as floats.
#include "engine/op/op_registry.h"
#include "engine/op/shape_rules.h"
#include "ops/parts.h"
#include "ops/quantized_pool/quantized_pool_parts.h"

namespace opkit::ops::quantized_pool {
namespace {

using Value = Decomposition::Value;

enum Input : size_t { kX, kXScale, kXZeroPoint, kYScale, kYZeroPoint };

Result<std::vector<TensorDesc>> shapeRule(const ShapeArgs& args) {
  OPKIT_TRY(requireSameType(args, kXZeroPoint, "x_zero_point", kX));
  for (const auto& [i, name] : {std::pair{kXScale, "x_scale"},
                                {kXZeroPoint, "x_zero_point"},
                                {kYScale, "y_scale"},
                                {kYZeroPoint, "y_zero_point"}})
    OPKIT_TRY(requireScalar(args, i, name));
  Shape shape = args.shape(kX);
  if (shape.size() < 3 || elementCount(shape, 2, shape.size()) == 0)
    return Status::invalidArgument("x must be [batch, channels, extents from 1 on...], got {}", toString(shape));
  std::fill(shape.begin() + 2, shape.end(), 1);
  return std::vector{TensorDesc{args.input(kYZeroPoint).dtype, shape}};
}

/// Of so many elements, each less a zero point at most 255, a sum may pass 2^31 - 1.
constexpr int64_t kLongPlane = ((int64_t{1} << 31) - 1) / 255 + 1;

/// The same mean through f32.
void decomposeInFloats(Decomposition& parts) {
  const Value x = parts.add("DequantizeLinear", {parts.input(kX), parts.input(kXScale), parts.input(kXZeroPoint)});
  const Value mean = parts.add("GlobalAveragePool", {x});
  parts.setOutput(0, parts.add("QuantizeLinear", {mean, parts.input(kYScale), parts.input(kYZeroPoint)}));
}

Status decompose(const ShapeArgs& args, std::span<const TensorDesc> outputs, Decomposition& parts) {
  const Shape& shape = args.shape(kX);
  const int64_t rows = shape[0] * shape[1], count = elementCount(shape, 2, shape.size());
  if (count >= kLongPlane) {
    decomposeInFloats(parts);
    return Status::ok();
  }
  OPKIT_ASSIGN(Tensor ones, Tensor::onHost({DType::UInt8, {count, 1}}));
  std::ranges::fill(ones.bytes(), std::byte{1});
  OPKIT_ASSIGN(Tensor zero, Tensor::onHost({DType::UInt8, {}}));
  OPKIT_ASSIGN(const Value share, scalarOf(parts, DType::Float32, 1 / static_cast<float>(count)));
  OPKIT_ASSIGN(const Value matrix, reshaped(parts, parts.input(kX), {rows, count}));
  const Value means = parts.add(
      "QLinearMatMul", {matrix, parts.input(kXScale), parts.input(kXZeroPoint), parts.constant(std::move(ones)), share,
                        parts.constant(std::move(zero)), parts.input(kYScale), parts.input(kYZeroPoint)});
  OPKIT_ASSIGN(const Value y, reshaped(parts, means, outputs[0].shape));
  parts.setOutput(0, y);
  return Status::ok();
}

}  // namespace

void define(OpRegistry& registry) {
  constexpr DTypeSet kBytes{DType::Int8, DType::UInt8}, kScales{DType::Float32};
  registry.add({.type = "QLinearGlobalAveragePool",
                .summary = "the mean of each plane of quantised values, quantised",
                .inputs = {{"x", kBytes},
                           {"x_scale", kScales},
                           {"x_zero_point", kBytes},
                           {"y_scale", kScales},
                           {"y_zero_point", kBytes}},
                .outputs = {{"y", kBytes}},
                .numeric = NumericClass::Exact,
                .inferShapes = shapeRule,
                .decompose = decompose,
                .flops = [](const ShapeArgs& args, auto) { return static_cast<double>(args.input(kX).elements()); },
                .oracle = reference});
}

}  // namespace opkit::ops::quantized_pool
