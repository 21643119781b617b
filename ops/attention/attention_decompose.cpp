// Attention made of parts: past and new keys and values are concatenated, then FusedAttention runs. If the model asks
// for the scores, they are made beside it: products, softcap, mask and Softmax.
#include <cmath>
#include <numeric>

#include "engine/op/shape_rules.h"
#include "ops/attention/attention.h"
#include "ops/parts.h"

namespace opkit::ops::attention {
namespace {

using Value = Decomposition::Value;

enum Input : size_t { kInQ, kInK, kInV, kInMask, kInPastKey, kInPastValue, kInLengths };
enum Output : size_t { kOutY, kOutKey, kOutValue, kOutScores };

/// One node of Attention: its tensors as heads, and all keys.
struct Node {
  AttentionParamsT params;
  Heads q, k, v;
  int64_t past = 0, keys = 0;
  Shape presentKey, presentValue, scores;
};

Status checkPast(const ShapeArgs& args, size_t i, const char* name, const Heads& heads) {
  const Shape& past = args.shape(i);
  if (past.size() == 4 && past[0] == heads.batch && past[1] == heads.heads && past[3] == heads.size)
    return Status::ok();
  return Status::invalidArgument("{} must be [{}, {}, tokens, {}], got {}", name, heads.batch, heads.heads, heads.size,
                                 toString(past));
}

Status readPast(const ShapeArgs& args, Node& node) {
  const bool hasKey = args.hasInput(kInPastKey), hasValue = args.hasInput(kInPastValue);
  if (hasKey != hasValue) return Status::invalidArgument("past_key and past_value go together, got one of them");
  if (!hasKey) return Status::ok();
  if (args.hasInput(kInLengths))
    return Status::invalidArgument("lengths count the tokens of a cache outside the node, got past_key too");
  OPKIT_TRY(requireSameType(args, kInPastKey, "past_key", kInK));
  OPKIT_TRY(requireSameType(args, kInPastValue, "past_value", kInV));
  OPKIT_TRY(checkPast(args, kInPastKey, "past_key", node.k));
  OPKIT_TRY(checkPast(args, kInPastValue, "past_value", node.v));
  node.past = args.shape(kInPastKey)[2];
  if (args.shape(kInPastValue)[2] == node.past) return Status::ok();
  return Status::invalidArgument("past_key and past_value must have one length, got {} and {}", node.past,
                                 args.shape(kInPastValue)[2]);
}

Result<Node> nodeOf(const ShapeArgs& args) {
  Node node{.params = args.params<AttentionParams>(), .q = {}, .k = {}, .v = {}};
  OPKIT_ASSIGN(node.q, headsOf(args.shape(kInQ), node.params.q_heads, "q"));
  OPKIT_ASSIGN(node.k, headsOf(args.shape(kInK), node.params.kv_heads, "k"));
  OPKIT_ASSIGN(node.v, headsOf(args.shape(kInV), node.params.kv_heads, "v"));
  OPKIT_TRY(requireSameType(args, kInK, "k", kInQ));
  OPKIT_TRY(readPast(args, node));
  node.keys = node.past + node.k.tokens;
  node.presentKey = {node.k.batch, node.k.heads, node.keys, node.k.size};
  node.presentValue = {node.v.batch, node.v.heads, node.past + node.v.tokens, node.v.size};
  node.scores = {node.q.batch, node.q.heads, node.q.tokens, node.keys};
  return node;
}

FusedAttentionParamsT fusedParams(const Node& node) {
  FusedAttentionParamsT fused;
  fused.q_heads = node.params.q_heads;
  fused.kv_heads = node.past > 0 ? 0 : node.params.kv_heads;
  fused.scale = node.params.scale;
  fused.softcap = node.params.softcap;
  fused.left = node.params.left;
  fused.right = node.params.right;
  fused.past = node.past;
  return fused;
}

/// The nodes that make one Attention.
class Parts {
 public:
  Parts(const ShapeArgs& args, const Node& node, Decomposition& parts)
      : args_(args), node_(node), parts_(parts), type_(args.input(kInQ).dtype) {}

  Status build(size_t outputs) {
    const bool isStored = outputs > kOutScores;
    OPKIT_ASSIGN(const Value key, withPast(kInK, kInPastKey, node_.k, isStored || outputs > kOutKey));
    OPKIT_ASSIGN(const Value value, withPast(kInV, kInPastValue, node_.v, isStored || outputs > kOutValue));
    if (outputs > kOutKey) parts_.setOutput(kOutKey, key);
    if (outputs > kOutValue) parts_.setOutput(kOutValue, value);
    const bool isPacked = node_.past == 0;  // FusedAttention reads heads where they lie
    Value mask = Decomposition::kAbsent;
    if (args_.hasInput(kInMask)) mask = maskAs(type_);
    const Value lengths = args_.hasInput(kInLengths) ? parts_.input(kInLengths) : Decomposition::kAbsent;
    const Value v = castTo(parts_, isPacked ? parts_.input(kInV) : value, args_.input(kInV).dtype, type_);
    parts_.setOutput(
        kOutY, parts_.add("FusedAttention", {parts_.input(kInQ), isPacked ? parts_.input(kInK) : key, v, mask, lengths},
                          packParams(fusedParams(node_))));
    return isStored ? storeScores(key) : Status::ok();
  }

 private:
  /// Input i as [batch, heads, tokens, size].
  Result<Value> asHeads(size_t i, const Heads& heads) {
    if (args_.shape(i).size() == 4) return parts_.input(i);
    OPKIT_ASSIGN(const Value split,
                 reshaped(parts_, parts_.input(i), {heads.batch, heads.tokens, heads.heads, heads.size}));
    return transposed(parts_, split, {0, 2, 1, 3});
  }
  /// The same behind what was cached. Not needed where FusedAttention reads the input itself.
  Result<Value> withPast(size_t i, size_t pastInput, const Heads& heads, bool isNeeded) {
    if (node_.past == 0 && !isNeeded) return parts_.input(i);
    OPKIT_ASSIGN(const Value added, asHeads(i, heads));
    return args_.hasInput(pastInput) ? concatenated(parts_, {parts_.input(pastInput), added}, 2) : added;
  }

  Value maskAs(DType type) {
    const DType given = args_.input(kInMask).dtype;
    return given == DType::Bool ? parts_.input(kInMask) : castTo(parts_, parts_.input(kInMask), given, type);
  }

  Result<Value> scalar(double value) { return scalarOf(parts_, computed(), value); }
  DType computed() const { return widened(type_); }

  /// Whether key j is visible to query i by position: a condition that broadcasts to the scores; kAbsent for all.
  Result<Value> visible() {
    const int64_t queries = node_.q.tokens, batch = node_.q.batch;
    std::vector<int64_t> counted(static_cast<size_t>(std::max(queries, node_.keys)));
    std::iota(counted.begin(), counted.end(), int64_t{0});
    OPKIT_ASSIGN(const Value key,
                 integersOf(parts_, {1, 1, 1, node_.keys}, {counted.begin(), counted.begin() + node_.keys}));
    OPKIT_ASSIGN(Value position, integersOf(parts_, {1, 1, queries, 1}, {counted.begin(), counted.begin() + queries}));
    Value condition = Decomposition::kAbsent;
    const auto require = [&](Value next) {
      condition = condition == Decomposition::kAbsent ? next : parts_.add("And", {condition, next});
    };
    int64_t first = node_.past;
    if (args_.hasInput(kInLengths)) {
      OPKIT_ASSIGN(const Value lengths, reshaped(parts_, parts_.input(kInLengths), {batch, 1, 1, 1}));
      require(parts_.add("Less", {key, lengths}));
      position = parts_.add("Add", {position, lengths});
      first = -queries;
    }
    const auto bound = [&](int64_t distance) -> Result<Value> {
      OPKIT_ASSIGN(const Value offset, integersOf(parts_, {}, {first + distance}));
      return parts_.add("Add", {position, offset});
    };
    if (node_.params.right >= 0) {
      OPKIT_ASSIGN(const Value last, bound(node_.params.right));
      require(parts_.add("LessOrEqual", {key, last}));
    }
    if (node_.params.left >= 0) {
      OPKIT_ASSIGN(const Value begin, bound(-node_.params.left));
      require(parts_.add("GreaterOrEqual", {key, begin}));
    }
    return condition;
  }

  /// The mask with as many keys as there are: what it lacks is masked.
  Result<Value> wholeMask(bool isBool) {
    Shape rest = args_.shape(kInMask);
    Value mask = maskAs(computed());
    if (rest.back() == 1 || rest.back() == node_.keys) return mask;
    rest.back() = node_.keys - rest.back();
    OPKIT_ASSIGN(Tensor filler, Tensor::onHost({isBool ? DType::Bool : computed(), rest}));
    if (isBool)
      std::ranges::fill(filler.data<uint8_t>(), uint8_t{0});
    else if (computed() == DType::Float64)
      std::ranges::fill(filler.data<double>(), -INFINITY);
    else
      std::ranges::fill(filler.data<float>(), -INFINITY);
    return concatenated(parts_, {mask, parts_.constant(std::move(filler))}, -1);
  }

  Result<Value> masked(Value scores) {
    OPKIT_ASSIGN(const Value lowest, scalar(-INFINITY));
    OPKIT_ASSIGN(Value condition, visible());
    if (args_.hasInput(kInMask)) {
      const bool isBool = args_.input(kInMask).dtype == DType::Bool;
      OPKIT_ASSIGN(const Value mask, wholeMask(isBool));
      Value isSeen = mask;
      if (!isBool) {
        scores = parts_.add("Add", {scores, mask});
        isSeen = parts_.add("Not", {parts_.add("Equal", {mask, lowest})});
      }
      condition = condition == Decomposition::kAbsent ? isSeen : parts_.add("And", {condition, isSeen});
    }
    return condition == Decomposition::kAbsent ? scores : parts_.add("Where", {condition, scores, lowest});
  }

  /// Scaled products of queries and keys as [batch, heads, queries, keys].
  Value products(Value key) {
    AttentionScoresParamsT params;
    params.q_heads = node_.params.q_heads;
    params.scale = node_.params.scale;
    return parts_.add("AttentionScores", {parts_.input(kInQ), key}, packParams(params));
  }

  Result<Value> capped(Value scores) {
    if (node_.params.softcap <= 0) return scores;
    OPKIT_ASSIGN(const Value cap, scalar(static_cast<double>(node_.params.softcap)));
    return parts_.add("Mul", {parts_.add("Tanh", {parts_.add("Div", {scores, cap})}), cap});
  }

  /// Rows without a visible key become 0.
  Result<Value> probabilities(Value scores) {
    OPKIT_ASSIGN(const Value lowest, scalar(-INFINITY));
    OPKIT_ASSIGN(const Value zero, scalar(0));
    const Value isEmpty = parts_.add("Equal", {reduced(parts_, "ReduceMax", scores, {3}, true), lowest});
    return parts_.add("Where", {isEmpty, zero, parts_.add("Softmax", {scores})});
  }

  Status storeScores(Value key) {
    Value stages[4];
    stages[0] = products(key);
    OPKIT_ASSIGN(stages[1], capped(stages[0]));
    OPKIT_ASSIGN(stages[2], masked(stages[1]));
    OPKIT_ASSIGN(stages[3], probabilities(stages[2]));
    parts_.setOutput(kOutScores, castTo(parts_, stages[static_cast<size_t>(node_.params.scores)], computed(), type_));
    return Status::ok();
  }

  const ShapeArgs& args_;
  const Node& node_;
  Decomposition& parts_;
  DType type_;
};

}  // namespace

Result<std::vector<TensorDesc>> attentionRule(const ShapeArgs& args) {
  OPKIT_ASSIGN(const Node node, nodeOf(args));
  FusedAttentionParamsT fused = fusedParams(node);
  fused.kv_heads = 0;
  const Shape* mask = args.hasInput(kInMask) ? &args.shape(kInMask) : nullptr;
  OPKIT_ASSIGN(const AttentionPlan plan,
               planAttention(fused, args.shape(kInQ), node.presentKey, node.presentValue, mask));
  if (args.hasInput(kInLengths) && args.shape(kInLengths) != Shape{plan.q.batch})
    return Status::invalidArgument("lengths must be [{}], got {}", plan.q.batch, toString(args.shape(kInLengths)));
  const Shape y = outputShape(args.shape(kInQ), plan.q, plan.v.size);
  const DType type = args.input(kInQ).dtype, valueType = args.input(kInV).dtype;
  return std::vector{TensorDesc{type, y}, TensorDesc{type, node.presentKey}, TensorDesc{valueType, node.presentValue},
                     TensorDesc{type, node.scores}};
}

Status decomposeAttention(const ShapeArgs& args, std::span<const TensorDesc> outputs, Decomposition& parts) {
  OPKIT_ASSIGN(const Node node, nodeOf(args));
  return Parts(args, node, parts).build(outputs.size());
}

}  // namespace opkit::ops::attention
