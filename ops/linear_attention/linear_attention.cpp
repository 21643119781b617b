#include "ops/linear_attention/linear_attention.h"

#include <cmath>

#include "engine/op/op_registry.h"
#include "engine/op/shape_rules.h"
#include "ops/parts.h"

namespace opkit::ops::linear_attention {
namespace {

using Inputs = std::span<const TensorDesc* const>;

bool has(Inputs inputs, size_t i) { return i < inputs.size() && inputs[i]; }

/// Decay and beta are given if and only if the rule reads them.
Status checkGates(UpdateRule rule, Inputs inputs) {
  const bool decays = rule == UpdateRule::Gated || rule == UpdateRule::GatedDelta;
  const bool isDelta = rule == UpdateRule::Delta || rule == UpdateRule::GatedDelta;
  if (decays && !has(inputs, kDecay)) return Status::invalidArgument("rule {} needs decay", EnumNameUpdateRule(rule));
  if (isDelta && !has(inputs, kBeta)) return Status::invalidArgument("rule {} needs beta", EnumNameUpdateRule(rule));
  return Status::ok();
}

Status checkHeads(const LinearAttentionParamsT& params, Inputs inputs) {
  if (params.q_heads < 1 || params.kv_heads < 1 || params.q_heads % params.kv_heads != 0)
    return Status::invalidArgument("kv_heads must divide q_heads, got {} and {}", params.kv_heads, params.q_heads);
  const Shape &q = inputs[kQuery]->shape, &k = inputs[kKey]->shape, &v = inputs[kValue]->shape;
  for (const Shape* shape : {&q, &k, &v})
    if (shape->size() != 3 || (*shape)[0] != q[0] || (*shape)[1] != q[1])
      return Status::invalidArgument("query, key and value must be [batch, tokens, heads * size], got {}, {} and {}",
                                     toString(q), toString(k), toString(v));
  if (q[2] == 0 || q[2] % params.q_heads != 0 || k[2] != q[2] / params.q_heads * params.kv_heads)
    return Status::invalidArgument("query and key must have {} and {} heads of one size, got {} and {}", params.q_heads,
                                   params.kv_heads, toString(q), toString(k));
  if (v[2] % params.kv_heads == 0) return Status::ok();
  return Status::invalidArgument("value must have {} heads, got {}", params.kv_heads, toString(v));
}

Status requireShape(Inputs inputs, size_t i, const char* name, std::initializer_list<Shape> allowed) {
  if (!has(inputs, i)) return Status::ok();
  std::string list;
  for (const Shape& shape : allowed) {
    if (inputs[i]->shape == shape) return Status::ok();
    list += (list.empty() ? "" : " or ") + toString(shape);
  }
  return Status::invalidArgument("{} must be {}, got {}", name, list, toString(inputs[i]->shape));
}

Result<std::vector<TensorDesc>> shapeRule(const ShapeArgs& args) {
  OPKIT_ASSIGN(const LinearPlan plan, planLinear(args.params<LinearAttentionParams>(), args.inputs));
  for (const auto& [input, name] : {std::pair{kKey, "key"}, {kValue, "value"}, {kDecay, "decay"}, {kBeta, "beta"}})
    OPKIT_TRY(requireSameType(args, input, name, kQuery));
  const DType type = args.input(kQuery).dtype, state = args.hasInput(kPast) ? args.input(kPast).dtype : type;
  return std::vector{TensorDesc{type, {plan.batch, plan.tokens, plan.qHeads * plan.valueSize}},
                     TensorDesc{state, {plan.batch, plan.heads, plan.keySize, plan.valueSize}}};
}

/// The recurrence keeps its state in f32.
Result<std::vector<TensorDesc>> recurrenceRule(const ShapeArgs& args) {
  OPKIT_ASSIGN(std::vector<TensorDesc> outputs, shapeRule(args));
  outputs[1].dtype = DType::Float32;
  return outputs;
}

Status decompose(const ShapeArgs& args, std::span<const TensorDesc> outputs, Decomposition& parts) {
  std::vector<Decomposition::Value> inputs;
  for (size_t i = 0; i < args.inputs.size(); ++i)
    inputs.push_back(args.hasInput(i) ? parts.input(i) : Decomposition::kAbsent);
  if (args.hasInput(kPast)) inputs[kPast] = castTo(parts, inputs[kPast], args.input(kPast).dtype, DType::Float32);
  const auto made = parts.add("LinearRecurrence", std::move(inputs), packParams(args.params<LinearAttentionParams>()),
                              outputs.size());
  parts.setOutput(0, made[0]);
  if (outputs.size() > 1) parts.setOutput(1, castTo(parts, made[1], DType::Float32, outputs[1].dtype));
  return Status::ok();
}

double flops(const ShapeArgs& args, std::span<const TensorDesc>) {
  const auto plan = planLinear(args.params<LinearAttentionParams>(), args.inputs);
  if (!plan) return 0;
  const auto cells = static_cast<double>(plan->states() * plan->tokens * plan->keySize * plan->valueSize);
  const auto passes = static_cast<double>(1 + plan->group() + (plan->isDelta ? 1 : 0));
  return cells * (2 * passes + (plan->decaySize > 0 ? 1 : 0));
}

}  // namespace

Result<LinearPlan> planLinear(const LinearAttentionParamsT& params, Inputs inputs) {
  OPKIT_TRY(checkHeads(params, inputs));
  OPKIT_TRY(checkGates(params.rule, inputs));
  const Shape &q = inputs[kQuery]->shape, &v = inputs[kValue]->shape;
  const bool isDelta = params.rule == UpdateRule::Delta || params.rule == UpdateRule::GatedDelta;
  const bool decays = params.rule == UpdateRule::Gated || params.rule == UpdateRule::GatedDelta;
  LinearPlan plan{.batch = q[0],
                  .tokens = q[1],
                  .qHeads = params.q_heads,
                  .heads = params.kv_heads,
                  .keySize = q[2] / params.q_heads,
                  .valueSize = v[2] / params.kv_heads,
                  .decaySize = 0,
                  .betaHeads = 0,
                  .scale = static_cast<double>(params.scale),
                  .isDelta = isDelta};
  if (plan.scale == 0) plan.scale = 1 / std::sqrt(static_cast<double>(plan.keySize));
  OPKIT_TRY(requireShape(inputs, kPast, "past_state", {{plan.batch, plan.heads, plan.keySize, plan.valueSize}}));
  OPKIT_TRY(requireShape(inputs, kDecay, "decay", {{q[0], q[1], plan.heads}, {q[0], q[1], plan.heads * plan.keySize}}));
  OPKIT_TRY(requireShape(inputs, kBeta, "beta", {{q[0], q[1], plan.heads}, {q[0], q[1], 1}}));
  if (decays) plan.decaySize = inputs[kDecay]->shape[2] / plan.heads;
  if (isDelta) plan.betaHeads = inputs[kBeta]->shape[2];
  return plan;
}

void define(OpRegistry& registry) {
  constexpr DTypeSet kTypes{DType::Float32, DType::Float16};
  const auto inputs = [&](DTypeSet states) {
    const auto optional = [](const char* name, DTypeSet dtypes) { return Port{name, dtypes, Port::Kind::Optional}; };
    return std::vector<Port>{{"query", kTypes},         {"key", kTypes},
                             {"value", kTypes},         optional("past_state", states),
                             optional("decay", kTypes), optional("beta", kTypes)};
  };
  OpDef def{.type = "LinearAttention",
            .summary = "a state of keys and values that each token changes, and what the token's query reads of it",
            .params = paramsSchema<LinearAttentionParams>(kLinearAttentionSchema),
            .inputs = inputs(kTypes),
            .outputs = {{"y"}, {"present_state"}},
            .numeric = NumericClass::Norm,
            .domain = {-0.6, 0.6},
            .inferShapes = shapeRule,
            .decompose = decompose,
            .flops = flops,
            .oracle = reference};
  registry.add(def);
  def.type = "LinearRecurrence";
  def.summary = "LinearAttention with states of f32";
  def.inputs = inputs(DTypeSet(DType::Float32));
  def.inferShapes = recurrenceRule;
  def.decompose = nullptr;
  registry.add(def);
}

}  // namespace opkit::ops::linear_attention
