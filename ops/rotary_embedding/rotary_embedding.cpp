#include "ops/rotary_embedding/rotary_embedding.h"

#include "engine/op/op_registry.h"
#include "engine/op/shape_rules.h"

namespace opkit::ops::rotary_embedding {
namespace {

Status requireCache(const ShapeArgs& args, size_t i, const char* name, const RotaryPlan& plan) {
  const Shape expected{plan.batch, plan.tokens, plan.pairs};
  OPKIT_TRY(requireSameType(args, i, name, 0));
  if (args.shape(i) == expected) return Status::ok();
  return Status::invalidArgument("{} must be {} for input {}, got {}", name, toString(expected),
                                 toString(args.shape(0)), toString(args.shape(i)));
}

Result<std::vector<TensorDesc>> shapeRule(const ShapeArgs& args) {
  OPKIT_ASSIGN(const RotaryPlan plan, planRotary(args.params<RotaryEmbeddingParams>(), args.shape(0), args.shape(1)));
  OPKIT_TRY(requireCache(args, 1, "cos", plan));
  OPKIT_TRY(requireCache(args, 2, "sin", plan));
  return std::vector{args.input(0)};
}

}  // namespace

Result<RotaryPlan> planRotary(const RotaryEmbeddingParamsT& params, const Shape& x, const Shape& cos) {
  RotaryPlan plan{};
  if (x.size() == 4) {
    plan = {x[0], x[1], x[2], x[3], 0, false};
  } else if (x.size() == 3 && params.num_heads > 0 && x[2] % params.num_heads == 0) {
    plan = {x[0], params.num_heads, x[1], x[2] / params.num_heads, 0, true};
  } else {
    return Status::invalidArgument(
        "x must be [batch, heads, tokens, size], or [batch, tokens, heads * size] and num_heads; got {} and {}",
        toString(x), params.num_heads);
  }
  int64_t turned = params.rotary_dim == 0 ? plan.size : params.rotary_dim;
  if (turned == kAsCachesSay) {
    if (cos.size() != 3) return Status::invalidArgument("cos must be [batch, tokens, pairs], got {}", toString(cos));
    turned = 2 * cos[2];
  }
  if (turned < 0 || turned > plan.size || turned % 2 != 0)
    return Status::invalidArgument("an even number of at most {} elements of a head turn, got {}", plan.size, turned);
  plan.pairs = turned / 2;
  return plan;
}

void define(OpRegistry& registry) {
  constexpr DTypeSet kTypes{DType::Float32, DType::Float16};
  registry.add({.type = "RotaryEmbedding",
                .summary = "pairs of elements of each head, turned by the angle of their token",
                .params = paramsSchema<RotaryEmbeddingParams>(kRotaryEmbeddingSchema),
                .inputs = {{"x", kTypes}, {"cos", kTypes}, {"sin", kTypes}},
                .outputs = {{"y"}},
                .numeric = NumericClass::Products,
                .inferShapes = shapeRule,
                .flops = [](const ShapeArgs& args, auto) { return 3.0 * args.input(0).elements(); },
                .oracle = reference});
}

}  // namespace opkit::ops::rotary_embedding
