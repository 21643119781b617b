#include "ops/random/sampling.h"

#include "ops/cum_sum/cum_sum_generated.h"
#include "ops/parts.h"

namespace opkit::ops::random {
namespace {

using Value = Decomposition::Value;

DType typeOr(const SamplingParamsT& params, DType absent) {
  return params.type == 0 ? absent : static_cast<DType>(params.type);
}

/// Numbers of [0, 1) in f32, one per element of `like`.
Value uniformLike(Decomposition& parts, Value like, uint64_t key) {
  RandomParamsT params;
  params.key = key;
  params.type = RandomType::f32;
  return parts.add("RandomUniform", {like}, packParams(params));
}

Status requireScalar(const ShapeArgs& args, size_t i, const char* name) {
  if (!args.hasInput(i) || args.input(i).elements() == 1) return Status::ok();
  return Status::invalidArgument("{} must hold one element, got {}", name, toString(args.shape(i)));
}

/// A scalar input as [], so that it broadcasts to any rank.
Result<Value> scalarInput(const ShapeArgs& args, size_t i, Decomposition& parts) {
  if (args.shape(i).empty()) return parts.input(i);
  OPKIT_ASSIGN(const Value shape, listOf(parts, {}));
  return parts.add("Reshape", {parts.input(i), shape});
}

}  // namespace

Result<std::vector<TensorDesc>> bernoulliRule(const ShapeArgs& args) {
  const auto params = args.params<SamplingParams>();
  const DType type = typeOr(params, args.input(0).dtype);
  if (!isValidDType(static_cast<int>(type)) || !kAnyDType.contains(type))
    return Status::invalidArgument("type must be a type number in [0, 12], got {}", params.type);
  return std::vector{TensorDesc{type, args.shape(0)}};
}

/// 1 where a number lies below the probability.
Status decomposeBernoulli(const ShapeArgs& args, std::span<const TensorDesc> outputs, Decomposition& parts) {
  const DType given = args.input(0).dtype, dtype = widened(given);
  const Value number = uniformLike(parts, parts.input(0), args.params<SamplingParams>().key);
  const Value one =
      parts.add("Less", {castTo(parts, number, DType::Float32, dtype), castTo(parts, parts.input(0), given, dtype)});
  parts.setOutput(0, castTo(parts, one, DType::Bool, outputs[0].dtype));
  return Status::ok();
}

Result<std::vector<TensorDesc>> rowsRule(const ShapeArgs& args) {
  const auto params = args.params<SamplingParams>();
  const Shape& x = args.shape(0);
  const DType type = typeOr(params, DType::Int32);
  if (type != DType::Int32 && type != DType::Int64)
    return Status::invalidArgument("type must be i32 or i64, got {}", static_cast<int>(type));
  if (x.size() != 2 || x[1] < 1)
    return Status::invalidArgument("the input must be [batch, classes] with a class, got {}", toString(x));
  if (params.samples < 1) return Status::invalidArgument("samples must be 1 or more, got {}", params.samples);
  return std::vector{TensorDesc{type, {x[0], params.samples}}};
}

/// Running sums of the classes' weights, of which a number picks one.
Status decomposeMultinomial(const ShapeArgs& args, std::span<const TensorDesc>, Decomposition& parts) {
  const DType given = args.input(0).dtype;
  const Value x = castTo(parts, parts.input(0), given, widened(given));
  const Value weights = parts.add("Exp", {parts.add("Sub", {x, reduced(parts, "ReduceMax", x, {1}, true)})});
  cum_sum::CumSumParamsT classes;
  classes.axis = 1;
  const Value sums = parts.add("CumSum", {weights}, packParams(classes));
  parts.setOutput(0, parts.add("SampleRows", {sums}, packParams(args.params<SamplingParams>())));
  return Status::ok();
}

Result<std::vector<TensorDesc>> dropoutRule(const ShapeArgs& args) {
  OPKIT_TRY(requireScalar(args, 1, "ratio"));
  OPKIT_TRY(requireScalar(args, 2, "training"));
  return std::vector{args.input(0), TensorDesc{DType::Bool, args.shape(0)}};
}

/// Elements are kept where a number is not below the ratio, and divided by the share that is kept.
Status decomposeDropout(const ShapeArgs& args, std::span<const TensorDesc> outputs, Decomposition& parts) {
  const DType given = args.input(0).dtype, dtype = widened(given), ratioType = args.input(1).dtype;
  OPKIT_ASSIGN(const Value ratio, scalarInput(args, 1, parts));
  OPKIT_ASSIGN(const Value one, scalarOf(parts, dtype, 1));
  OPKIT_ASSIGN(const Value zero, scalarOf(parts, dtype, 0));
  const Value number = uniformLike(parts, parts.input(0), args.params<SamplingParams>().key);
  Value mask = parts.add("GreaterOrEqual", {number, castTo(parts, ratio, ratioType, DType::Float32)});
  const Value x = castTo(parts, parts.input(0), given, dtype);
  const Value kept = parts.add("Sub", {one, castTo(parts, ratio, ratioType, dtype)});
  Value y = parts.add("Where", {mask, parts.add("Div", {x, kept}), zero});
  if (args.hasInput(2)) {
    OPKIT_ASSIGN(const Value training, scalarInput(args, 2, parts));
    mask = parts.add("Or", {mask, parts.add("Not", {training})});
    y = parts.add("Where", {training, y, x});
  }
  parts.setOutput(0, castTo(parts, y, dtype, given));
  if (outputs.size() > 1) parts.setOutput(1, mask);
  return Status::ok();
}

}  // namespace opkit::ops::random
