#include "ops/attention/attention.h"

#include <cmath>

#include "engine/op/op_registry.h"
#include "engine/op/shape_rules.h"

namespace opkit::ops::attention {
namespace {

/// The mask's strides in [batch, heads, queries, keys]. An extent of 1 repeats; a shorter list of keys ends early.
Result<MaskStrides> planMask(const Shape& mask, const AttentionPlan& plan) {
  const Shape full{plan.q.batch, plan.q.heads, plan.q.tokens, plan.k.tokens};
  if (mask.size() > 4) return Status::invalidArgument("mask must have rank 4 or less, got {}", toString(mask));
  MaskStrides strides;
  int64_t* const byAxis[] = {&strides.batch, &strides.head, &strides.query, &strides.key};
  int64_t stride = 1;
  for (size_t d = mask.size(); d-- > 0; stride *= mask[d]) {
    const size_t axis = d + 4 - mask.size();
    const bool fits = axis == 3 ? mask[d] <= full[axis] : mask[d] == full[axis];
    if (mask[d] != 1 && !fits)
      return Status::invalidArgument("mask must broadcast to {}, got {}", toString(full), toString(mask));
    *byAxis[axis] = mask[d] == 1 ? 0 : stride;
  }
  strides.keys = mask.empty() || mask.back() == 1 ? plan.k.tokens : mask.back();
  return strides;
}

Result<std::vector<TensorDesc>> fusedRule(const ShapeArgs& args) {
  OPKIT_TRY(requireSameType(args, kK, "k", kQ));
  OPKIT_TRY(requireSameType(args, kV, "v", kQ));
  if (args.hasInput(kMask) && args.input(kMask).dtype != DType::Bool)
    OPKIT_TRY(requireSameType(args, kMask, "mask", kQ));
  const Shape* mask = args.hasInput(kMask) ? &args.shape(kMask) : nullptr;
  const auto params = args.params<FusedAttentionParams>();
  OPKIT_ASSIGN(const AttentionPlan plan, planAttention(params, args.shape(kQ), args.shape(kK), args.shape(kV), mask));
  if (args.hasInput(kLengths) && args.shape(kLengths) != Shape{plan.q.batch})
    return Status::invalidArgument("lengths must be [{}], got {}", plan.q.batch, toString(args.shape(kLengths)));
  if (args.hasInput(kSink)) OPKIT_TRY(requireSameType(args, kSink, "sink", kQ));
  if (args.hasInput(kSink) && args.shape(kSink) != Shape{plan.q.heads})
    return Status::invalidArgument("sink must be [{}], got {}", plan.q.heads, toString(args.shape(kSink)));
  return std::vector{TensorDesc{args.input(kQ).dtype, outputShape(args.shape(kQ), plan.q, plan.v.size)}};
}

double fusedFlops(const ShapeArgs& args, std::span<const TensorDesc>) {
  const auto params = args.params<FusedAttentionParams>();
  const auto plan = planAttention(params, args.shape(kQ), args.shape(kK), args.shape(kV), nullptr);
  if (!plan) return 0;
  // Of the keys in the window; a causal square has half.
  const auto keys = static_cast<double>(plan->k.tokens), queries = static_cast<double>(plan->q.tokens);
  double seen = keys;
  if (plan->right >= 0) seen = std::clamp(static_cast<double>(plan->past + plan->right) + (queries + 1) / 2, 0.0, keys);
  if (plan->left >= 0) seen = std::min(seen, static_cast<double>(plan->left + std::max<int64_t>(plan->right, 0) + 1));
  const auto products = static_cast<double>(plan->q.size + plan->v.size);
  return 2 * static_cast<double>(plan->q.batch * plan->q.heads) * queries * seen * products;
}

double productFlops(const ShapeArgs& args, std::span<const TensorDesc> outputs) {
  return 2.0 * static_cast<double>(outputs[0].elements() * args.shape(0).back());
}

double attentionFlops(const ShapeArgs&, std::span<const TensorDesc> outputs) {
  return static_cast<double>(outputs[0].elements());
}

}  // namespace

Result<Heads> headsOf(const Shape& shape, int64_t heads, std::string_view name) {
  if (shape.size() == 4 && (heads == 0 || heads == shape[1])) {
    const int64_t token = shape[3], head = shape[2] * token;
    return Heads{shape[0], shape[1], shape[2], shape[3], shape[1] * head, head, token};
  }
  if (shape.size() == 3 && heads > 0 && shape[2] % heads == 0)
    return Heads{shape[0], heads, shape[1], shape[2] / heads, shape[1] * shape[2], shape[2] / heads, shape[2]};
  return Status::invalidArgument(
      "{} must be [batch, heads, tokens, size], or [batch, tokens, heads * size] and a number "
      "of heads; got {} and {}",
      name, toString(shape), heads);
}

Shape outputShape(const Shape& q, const Heads& queries, int64_t valueSize) {
  Shape y = q;
  y.back() = q.size() == 4 ? valueSize : queries.heads * valueSize;
  return y;
}

Result<AttentionPlan> planAttention(const FusedAttentionParamsT& params, const Shape& q, const Shape& k, const Shape& v,
                                    const Shape* mask) {
  AttentionPlan plan;
  OPKIT_ASSIGN(plan.q, headsOf(q, params.q_heads, "q"));
  OPKIT_ASSIGN(plan.k, headsOf(k, params.kv_heads, "k"));
  OPKIT_ASSIGN(plan.v, headsOf(v, params.kv_heads, "v"));
  if (plan.k.batch != plan.q.batch || plan.v.batch != plan.q.batch)
    return Status::invalidArgument("q, k and v must have one batch, got {}, {} and {}", plan.q.batch, plan.k.batch,
                                   plan.v.batch);
  if (plan.k.heads != plan.v.heads || plan.k.tokens != plan.v.tokens)
    return Status::invalidArgument("k and v must have the same heads and tokens, got {} and {}", toString(k),
                                   toString(v));
  if (plan.k.size != plan.q.size || plan.q.size == 0)
    return Status::invalidArgument("heads of q and k must have one size of 1 or more, got {} and {}", plan.q.size,
                                   plan.k.size);
  if (plan.k.heads == 0 || plan.q.heads % plan.k.heads != 0)
    return Status::invalidArgument("the heads of k and v must divide the {} of q, got {}", plan.q.heads, plan.k.heads);
  plan.group = plan.q.heads / plan.k.heads;
  OPKIT_ASSIGN(plan.y, headsOf(outputShape(q, plan.q, plan.v.size), params.q_heads, "y"));
  if (mask) {
    OPKIT_ASSIGN(plan.mask, planMask(*mask, plan));
  }
  plan.left = params.left;
  plan.right = params.right;
  plan.past = params.past;
  plan.scale =
      params.scale.has_value() ? static_cast<double>(*params.scale) : 1 / std::sqrt(static_cast<double>(plan.q.size));
  plan.softcap = params.softcap;
  return plan;
}

void define(OpRegistry& registry) {
  const auto optional = [](const char* name, DTypeSet dtypes) { return Port{name, dtypes, Port::Kind::Optional}; };
  const DTypeSet masks = kFloats | DTypeSet{DType::Bool};
  registry.add({.type = "FusedAttention",
                .summary = "softmax(q * k^T) * v per head, without storing the scores",
                .params = paramsSchema<FusedAttentionParams>(kFusedAttentionSchema),
                .inputs = {{"q", kFloats},
                           {"k", kFloats},
                           {"v", kFloats},
                           optional("mask", masks),
                           optional("lengths", DTypeSet{DType::Int64}),
                           optional("sink", kFloats)},
                .outputs = {{"y"}},
                .numeric = NumericClass::Norm,
                .inferShapes = fusedRule,
                .flops = fusedFlops,
                .oracle = hiding(fusedReference, fusedHidden)});
  registry.add({.type = "Attention",
                .summary = "scaled dot-product attention with mask, window, cache of keys and values, and scores",
                .params = paramsSchema<AttentionParams>(kAttentionSchema),
                .inputs = {{"q", kFloats},
                           {"k", kFloats},
                           {"v", kFloats},
                           optional("mask", kNumbers | DTypeSet{DType::Bool}),
                           optional("past_key", kFloats),
                           optional("past_value", kFloats),
                           optional("lengths", DTypeSet{DType::Int64})},
                .outputs = {{"y"}, {"present_key"}, {"present_value"}, {"scores"}},
                .numeric = NumericClass::Norm,
                .inferShapes = attentionRule,
                .decompose = decomposeAttention,
                .flops = attentionFlops,
                .oracle = hiding(reference, hidden)});
  registry.add({.type = "AttentionScores",
                .summary = "scaled products of queries and keys per head",
                .params = paramsSchema<AttentionScoresParams>(kAttentionScoresSchema),
                .inputs = {{"q", kFloats}, {"k", kFloats}},
                .outputs = {{"scores"}},
                .numeric = NumericClass::Norm,
                .inferShapes = scoresRule,
                .decompose = decomposeScores,
                .flops = productFlops,
                .oracle = scoresReference});
  registry.add({.type = "AttentionValues",
                .summary = "values per head, summed by the weights of their keys",
                .params = paramsSchema<AttentionValuesParams>(kAttentionValuesSchema),
                .inputs = {{"weights", kFloats}, {"v", kFloats}},
                .outputs = {{"y"}},
                .numeric = NumericClass::Norm,
                .inferShapes = valuesRule,
                .decompose = decomposeValues,
                .flops = productFlops,
                .oracle = valuesReference});
}

}  // namespace opkit::ops::attention
