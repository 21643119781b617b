// CausalConvWithState as a depthwise Conv of what was before and the input.
#include "engine/op/op_registry.h"
#include "engine/op/shape_rules.h"
#include "ops/causal_conv/causal_conv_parts.h"
#include "ops/conv/conv_generated.h"
#include "ops/parts.h"

namespace opkit::ops::causal_conv {
namespace {

using Value = Decomposition::Value;

enum Input : size_t { kX, kWeight, kBias, kPast };

Status checkShapes(const ShapeArgs& args) {
  const Shape &x = args.shape(kX), &weight = args.shape(kWeight);
  if (x.size() != 3) return Status::invalidArgument("x must be [batch, channels, length], got {}", toString(x));
  if (weight.size() != 3 || weight[0] != x[1] || weight[1] != 1 || weight[2] < 1)
    return Status::invalidArgument("weight must be [{}, 1, size], got {}", x[1], toString(weight));
  OPKIT_TRY(requireSameType(args, kWeight, "weight", kX));
  OPKIT_TRY(requireParameter(args, kBias, "bias", {x[1]}));
  return requireParameter(args, kPast, "past_state", {x[0], x[1], weight[2] - 1});
}

Result<std::vector<TensorDesc>> shapeRule(const ShapeArgs& args) {
  OPKIT_TRY(checkShapes(args));
  const TensorDesc& x = args.input(kX);
  return std::vector{x, TensorDesc{x.dtype, {x.shape[0], x.shape[1], args.shape(kWeight)[2] - 1}}};
}

/// The last `kept` elements of each row of `length`.
Result<Value> lastOf(Decomposition& parts, Value x, int64_t length, int64_t kept) {
  OPKIT_ASSIGN(const Value starts, listOf(parts, {length - kept}));
  OPKIT_ASSIGN(const Value ends, listOf(parts, {length}));
  OPKIT_ASSIGN(const Value axes, listOf(parts, {2}));
  return parts.add("Slice", {x, starts, ends, axes});
}

Status decompose(const ShapeArgs& args, std::span<const TensorDesc> outputs, Decomposition& parts) {
  const Shape& x = args.shape(kX);
  const int64_t state = args.shape(kWeight)[2] - 1;
  const bool hasPast = args.hasInput(kPast), swish = args.params<CausalConvParams>().swish;
  Value rows = parts.input(kX);
  if (hasPast) rows = concatenated(parts, {parts.input(kPast), rows}, 2);
  if (outputs.size() > 1) {
    Value kept = rows;
    const int64_t missing = hasPast ? 0 : std::max<int64_t>(state - x[2], 0);
    if (missing > 0) {
      OPKIT_ASSIGN(const Tensor zeros, Tensor::onHost({args.input(kX).dtype, {x[0], x[1], missing}}));
      std::ranges::fill(zeros.bytes(), std::byte{0});
      kept = concatenated(parts, {parts.constant(zeros), kept}, 2);
    }
    OPKIT_ASSIGN(kept, lastOf(parts, kept, x[2] + (hasPast ? state : missing), state));
    parts.setOutput(1, kept);
  }
  // Halves with an activation are rounded once, at the end.
  const DType type = args.input(kX).dtype, computed = swish ? widened(type) : type;
  conv::ConvParamsT params;
  params.group = x[1];
  params.pads = {hasPast ? 0 : state, 0};
  std::vector<Value> inputs{rows, parts.input(kWeight)};
  if (args.hasInput(kBias)) inputs.push_back(parts.input(kBias));
  for (Value& input : inputs) input = castTo(parts, input, type, computed);
  Value y = parts.add("Conv", std::move(inputs), packParams(params));
  if (swish) y = parts.add("Swish", {y});
  parts.setOutput(0, castTo(parts, y, computed, type));
  return Status::ok();
}

double flops(const ShapeArgs& args, std::span<const TensorDesc> outputs) {
  return 2.0 * static_cast<double>(outputs[0].elements() * args.shape(kWeight)[2]);
}

}  // namespace

void define(OpRegistry& registry) {
  const auto optional = [](const char* name) { return Port{name, kFloats, Port::Kind::Optional}; };
  registry.add({.type = "CausalConvWithState",
                .summary = "a convolution of each channel with the elements before, which may come from an earlier run",
                .params = paramsSchema<CausalConvParams>(kCausalConvSchema),
                .inputs = {{"x", kFloats}, {"weight", kFloats}, optional("bias"), optional("past_state")},
                .outputs = {{"y"}, {"present_state"}},
                .numeric = NumericClass::Norm,
                .inferShapes = shapeRule,
                .decompose = decompose,
                .flops = flops,
                .oracle = reference});
}

}  // namespace opkit::ops::causal_conv
