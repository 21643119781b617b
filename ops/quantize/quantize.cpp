#include "ops/quantize/quantize.h"

#include "engine/op/op_registry.h"

namespace opkit::ops::quantize {
namespace {

constexpr DTypeSet kInt32{DType::Int32};
constexpr DTypeSet kPowers{DType::Float8E8M0};

bool isOne(const Shape& scale) { return scale.size() <= 1 && elementCount(scale) == 1; }

Status checkZeroPoint(const ShapeArgs& args, DType quantized) {
  if (!args.hasInput(2)) return Status::ok();
  const TensorDesc& zeroPoint = args.input(2);
  if (zeroPoint.dtype != quantized)
    return Status::invalidArgument("zero_point must be {}, got {}", nameOf(quantized), nameOf(zeroPoint.dtype));
  if (zeroPoint.shape == args.shape(1) || (isOne(zeroPoint.shape) && isOne(args.shape(1)))) return Status::ok();
  return Status::invalidArgument("zero_point must have the scale's shape {}, got {}", toString(args.shape(1)),
                                 toString(zeroPoint.shape));
}

Result<std::vector<TensorDesc>> quantizeRule(const ShapeArgs& args) {
  const auto params = args.params<QuantizeParams>();
  const auto chosen = static_cast<DType>(params.output_type);
  DType quantized = params.output_type == QuantizedType::like_zero_point ? DType::UInt8 : chosen;
  if (args.hasInput(2) && params.output_type == QuantizedType::like_zero_point) quantized = args.input(2).dtype;
  OPKIT_TRY(planScales(args.shape(0), args.shape(1), params.axis, params.block_size).error());
  OPKIT_TRY(checkZeroPoint(args, quantized));
  return std::vector{TensorDesc{quantized, args.shape(0)}};
}

Result<std::vector<TensorDesc>> dequantizeRule(const ShapeArgs& args) {
  const auto params = args.params<DequantizeParams>();
  OPKIT_TRY(planScales(args.shape(0), args.shape(1), params.axis, params.block_size).error());
  OPKIT_TRY(checkZeroPoint(args, args.input(0).dtype));
  return std::vector{TensorDesc{realTypeOf(static_cast<int>(params.output_type), args.input(1).dtype), args.shape(0)}};
}

}  // namespace

bool ScalePlan::isSingle() const { return outerStep == 0 && blockStep == 0 && innerStep == 0; }

DType realTypeOf(int chosen, DType scale) {
  if (chosen != 0) return static_cast<DType>(chosen);
  return kReals.contains(scale) ? scale : DType::Float32;
}

Result<ScalePlan> planScales(const Shape& x, const Shape& scale, int64_t axis, int64_t blockSize) {
  if (blockSize < 0) return Status::invalidArgument("block_size must be 0 or more, got {}", blockSize);
  ScalePlan plan;
  plan.inner = elementCount(x);
  if (isOne(scale)) return plan;
  const auto rank = static_cast<int64_t>(x.size());
  if (rank == 1) axis = 0;  // ONNX: the only axis, whatever the attribute says
  if (axis < -rank || axis >= rank)
    return Status::invalidArgument("axis must be in [{}, {}], got {}", -rank, rank - 1, axis);
  const auto at = static_cast<size_t>(axis < 0 ? axis + rank : axis);
  plan.outer = elementCount(x, 0, at);
  plan.extent = x[at];
  plan.inner = elementCount(x, at + 1, x.size());
  if (blockSize == 0) {
    plan.blockStep = 1;
    if (scale == Shape{plan.extent}) return plan;
    return Status::invalidArgument("the scale must be a scalar or [{}] for axis {} of {}, got {}", plan.extent, at,
                                   toString(x), toString(scale));
  }
  Shape expected = x;
  expected[at] = (plan.extent + blockSize - 1) / blockSize;
  if (scale != expected)
    return Status::invalidArgument("the scale must be {} for blocks of {} along axis {} of {}, got {}",
                                   toString(expected), blockSize, at, toString(x), toString(scale));
  plan.block = blockSize;
  plan.outerStep = expected[at] * plan.inner;
  plan.blockStep = plan.inner;
  plan.innerStep = 1;
  return plan;
}

/// Ties and limits of the results, in units of the scale.
static const std::vector<double> kEdges = {3.5,   7.5, 8,   15.5,  127,     127.5,   128.5,  254.5,
                                           255.5, 448, 464, 57344, 32767.5, 32768.5, 65535.5};

void define(OpRegistry& registry) {
  registry.add({.type = "QuantizeLinear",
                .summary = "small integers or floats: x / scale, rounded to nearest even, plus the zero point",
                .params = paramsSchema<QuantizeParams>(kQuantizeSchema),
                .inputs = {{"x", kReals | kInt32},
                           {"scale", kReals | kInt32 | kPowers},
                           {"zero_point", kQuantized, Port::Kind::Optional}},
                .outputs = {{"y", kQuantized}},
                .numeric = NumericClass::Exact,
                .edges = kEdges,
                .inferShapes = quantizeRule,
                .oracle = reference});
  registry.add({.type = "DequantizeLinear",
                .summary = "floats from small integers or floats: (x - zero point) * scale",
                .params = paramsSchema<DequantizeParams>(kDequantizeSchema),
                .inputs = {{"x", kQuantized | kInt32},
                           {"scale", kReals | kPowers},
                           {"zero_point", kQuantized | kInt32, Port::Kind::Optional}},
                .outputs = {{"y", kReals}},
                .numeric = NumericClass::OneRounding,
                .inferShapes = dequantizeRule,
                .oracle = dequantizeReference});
}

}  // namespace opkit::ops::quantize
