// The rule of GroupQueryAttention of com.microsoft. Keys and values are written into buffers of the past, behind the
// tokens that each sample has; the operator FusedAttention reads the buffers and the lengths.
#include "ops/attention/fused_attention_generated.h"
#include "ops/com_microsoft/com_microsoft.h"
#include "ops/com_microsoft/rotary_rules.h"
#include "ops/com_microsoft/rule_parts.h"
#include "ops/pad/pad_generated.h"
#include "ops/rotary_embedding/rotary_embedding.h"
#include "ops/tensor_scatter/tensor_scatter_generated.h"

namespace opkit::ops::com_microsoft {
namespace {

enum Input : size_t {
  kQuery,
  kKey,
  kValue,
  kPastKey,
  kPastValue,
  kLastPlaces,
  kTotalLength,
  kCosines,
  kSines,
  kPositions,
  kBias,
  kHeadSink,
};

/// One node: its heads, its projections [batch, tokens, heads * size], and integers that a run gives.
struct Group {
  int64_t heads = 0, kvHeads = 0;
  TensorId q, k, v;
  TensorId tokens;   // new ones, i64[1]
  TensorId total;    // tokens of the longest sample, i64[1]
  TensorId isFirst;  // bool[1]: nothing came before the new tokens
  TensorId past;     // tokens before the new ones, i64[batch]
};

Status refuseOptions(const OnnxNode& node) {
  for (const char* name : {"qk_output", "sliding_window_cache"}) OPKIT_TRY(requireOnly(node, name, 0));
  for (const char* name : {"k_quant_type", "v_quant_type"})
    if (const std::string type = node.stringAttribute(name, "NONE"); type != "NONE")
      return Status::unsupported("{} must be NONE, got '{}'", name, type);
  constexpr const char* kNames[] = {"k_scale", "v_scale", "q_norm_weight", "k_norm_weight"};
  for (size_t i = 0; i < std::size(kNames); ++i) OPKIT_TRY(requireAbsent(node, kHeadSink + 1 + i, kNames[i]));
  return Status::ok();
}

Status checkInputs(const OnnxNode& node) {
  const auto given = [&](size_t i) { return node.input(i) != TensorId(); };
  if (given(kKey) != given(kValue)) return Status::invalidArgument("key and value go together, got one of them");
  if (given(kPastKey) != given(kPastValue))
    return Status::invalidArgument("past_key and past_value go together, got one of them");
  if (!given(kLastPlaces) || !given(kTotalLength))
    return Status::invalidArgument("seqlens_k and total_sequence_length must be given");
  return Status::ok();
}

/// Queries, keys and values: three inputs, or one with all heads side by side.
void project(OnnxNode& node, Group& group) {
  group.q = node.input(kQuery);
  group.k = node.input(kKey);
  group.v = node.input(kValue);
  if (group.k) return;
  RuleParts parts(node);
  const int64_t kv = group.kvHeads;
  const TensorId heads = parts.reshapedTo(group.q, {0, 0, group.heads + 2 * kv, -1});
  const std::vector<TensorId> cuts = parts.split(heads, 2, std::vector<int64_t>{group.heads, kv, kv});
  const auto joined = [&](TensorId x) { return parts.reshapedTo(x, {0, 0, -1}); };
  group.q = joined(cuts[0]);
  group.k = joined(cuts[1]);
  group.v = joined(cuts[2]);
}

/// seqlens_k holds the place of each sample's last token. A first prompt starts at 0 in every sample, also if samples
/// are padded behind.
void count(OnnxNode& node, Group& group) {
  RuleParts parts(node);
  group.tokens = parts.extents(group.q, 1, 2);
  group.total = parts.reshapedTo(parts.cast(node.input(kTotalLength), cast::ElementType::i64), {1});
  group.isFirst = parts.pair("Equal", group.total, group.tokens);
  const TensorId last = parts.reshapedTo(parts.cast(node.input(kLastPlaces), cast::ElementType::i64), {-1});
  const TensorId before = parts.pair("Sub", last, parts.pair("Sub", group.tokens, parts.list({1})));
  group.past = parts.where(group.isFirst, parts.list({0}), before);
}

/// Places of the new tokens, i64[batch, tokens]. A first prompt takes the first of position_ids for all.
TensorId placesOf(OnnxNode& node, const Group& group) {
  RuleParts parts(node);
  const TensorId counted = parts.countedTo(group.tokens);
  const TensorId given = node.input(kPositions);
  if (!given) return parts.pair("Add", parts.unsqueezed(group.past, 1), counted);
  const TensorId all = parts.reshapedTo(given, {-1});
  const TensorId first = parts.sliced(all, parts.list({0}), parts.list({1}), 0);
  return parts.where(group.isFirst, parts.pair("Add", first, counted), given);
}

Status rotate(OnnxNode& node, Group& group) {
  if (!node.input(kCosines) || !node.input(kSines))
    return Status::invalidArgument("do_rotary needs cos_cache and sin_cache");
  const Tensor* cosines = node.constantInput(kCosines);
  if (cosines && cosines->desc.shape.size() != 2)
    return Status::invalidArgument("cos_cache must be [positions, pairs], got {}", toString(cosines->desc.shape));
  const Angles angles = anglesAt(node, node.input(kCosines), node.input(kSines), placesOf(node, group));
  OPKIT_ASSIGN(const bool interleaved, flagOf(node, "rotary_interleaved"));
  Rotation rotation{group.heads, rotary_embedding::kAsCachesSay, interleaved};
  group.q = rotated(node, group.q, angles, rotation);
  rotation.heads = group.kvHeads;
  group.k = rotated(node, group.k, angles, rotation);
  return Status::ok();
}

/// The new tokens x in a buffer [batch, heads, max(tokens of the past buffer, total), size].
TensorId present(OnnxNode& node, const Group& group, TensorId x, TensorId past) {
  RuleParts parts(node);
  const TensorId added = parts.turned(parts.reshapedTo(x, {0, 0, group.kvHeads, -1}));
  TensorId buffer;
  if (past) {
    const TensorId extent = parts.extents(past, 2, 3);
    const TensorId missing = parts.pair("Sub", parts.pair("Max", extent, group.total), extent);
    const TensorId pads = parts.joined({parts.list({0, 0, 0, 0, 0, 0}), missing, parts.list({0})});
    buffer = node.emitIntermediate("Pad", {past, pads}, packParams(pad::PadParamsT()));
  } else {
    const TensorId shape = parts.joined({parts.extents(added, 0, 2), group.total, parts.extents(added, 3, 4)});
    buffer = parts.expanded(parts.castLike(node.addConstant("zero", 0.0f), added), shape);
  }
  tensor_scatter::TensorScatterParamsT params;
  params.axis = 2;
  return node.emitIntermediate("TensorScatter", {buffer, added, group.past}, packParams(params));
}

/// Scores that weigh no value, one for each head of queries: head_sink, or 0 for smooth_softmax. Absent without both.
Result<TensorId> sinkOf(OnnxNode& node, const Group& group) {
  const int64_t smooth = node.intAttribute("smooth_softmax", -1);
  if (smooth < -1 || smooth > 1) return Status::invalidArgument("smooth_softmax must be -1, 0 or 1, got {}", smooth);
  if (node.input(kHeadSink) || smooth != 1) return node.input(kHeadSink);
  RuleParts parts(node);
  return parts.expanded(parts.castLike(node.addConstant("sink", 0.0f), group.q), parts.list({group.heads}));
}

Result<attention::FusedAttentionParamsT> paramsOf(const OnnxNode& node, const Group& group) {
  attention::FusedAttentionParamsT params;
  params.q_heads = group.heads;
  params.kv_heads = group.kvHeads;
  if (const float scale = node.floatAttribute("scale", 0); scale != 0) params.scale = scale;
  params.softcap = node.floatAttribute("softcap", 0);
  OPKIT_ASSIGN(const bool isCausal, flagOf(node, "causal", true));
  if (isCausal) params.right = 0;
  const int64_t window = node.intAttribute("local_window_size", -1);
  if (window == -1) return params;
  if (window < 1 || !isCausal)
    return Status::invalidArgument("local_window_size must be -1, or 1 or more where causal is 1, got {}", window);
  params.left = window - 1;  // it counts the token itself
  return params;
}

Status groupQuery(OnnxNode& node) {
  OPKIT_TRY(refuseOptions(node));
  OPKIT_TRY(checkInputs(node));
  Group group;
  OPKIT_ASSIGN(group.heads, requiredHeads(node, "num_heads"));
  OPKIT_ASSIGN(group.kvHeads, requiredHeads(node, "kv_num_heads"));
  OPKIT_ASSIGN(const attention::FusedAttentionParamsT params, paramsOf(node, group));
  project(node, group);
  count(node, group);
  OPKIT_ASSIGN(const bool isTurned, flagOf(node, "do_rotary"));
  if (isTurned) OPKIT_TRY(rotate(node, group));
  const TensorId key = present(node, group, group.k, node.input(kPastKey));
  const TensorId value = present(node, group, group.v, node.input(kPastValue));
  const TensorId lengths = node.emitIntermediate("Add", {group.past, group.tokens});
  OPKIT_ASSIGN(const TensorId sink, sinkOf(node, group));
  OPKIT_TRY(node.emitOutput(0, "FusedAttention", {group.q, key, value, node.input(kBias), lengths, sink},
                            packParams(params)));
  OPKIT_TRY(node.emitOutput(1, "Identity", {key}));
  return node.emitOutput(2, "Identity", {value});
}

}  // namespace

void addGroupQueryRules(OnnxRules& rules) {
  rules.add(qualified("GroupQueryAttention"),
            // Without norms and quantised caches, qk_norm_epsilon and kv_cache_bit_width mean nothing.
            {"causal", "do_rotary", "k_quant_type", "kv_cache_bit_width", "kv_num_heads", "local_window_size",
             "num_heads", "qk_norm_epsilon", "qk_output", "rotary_interleaved", "scale", "sliding_window_cache",
             "smooth_softmax", "softcap", "v_quant_type"},
            groupQuery);
  rules.note(qualified("GroupQueryAttention"), {"RotaryEmbedding", "TensorScatter", "FusedAttention"},
             "no qk_output, sliding_window_cache, quantised caches, norms of queries and keys");
}

}  // namespace opkit::ops::com_microsoft
