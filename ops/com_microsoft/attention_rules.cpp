// Rules of MultiHeadAttention, Attention and QAttention of com.microsoft: projections, a mask and the operator
// Attention.
#include "ops/attention/attention_generated.h"
#include "ops/com_microsoft/com_microsoft.h"
#include "ops/com_microsoft/rule_parts.h"

namespace opkit::ops::com_microsoft {
namespace {

/// Queries, keys and values: [batch, tokens, heads * size], or keys and values as [batch, heads, tokens, size].
struct Projections {
  TensorId q, k, v;
};

/// Cached keys and values, [batch, heads, tokens, size]; absent if there are none.
struct Past {
  TensorId key, value;
};

/// The attributes that the operators share. A scale of 0 is the default one.
Result<attention::AttentionParamsT> paramsOf(const OnnxNode& node) {
  attention::AttentionParamsT params;
  OPKIT_ASSIGN(params.q_heads, requiredHeads(node, "num_heads"));
  params.kv_heads = params.q_heads;
  if (const float scale = node.floatAttribute("scale", 0); scale != 0) params.scale = scale;
  OPKIT_ASSIGN(const bool isCausal, flagOf(node, "unidirectional"));
  if (isCausal) params.right = 0;
  return params;
}

/// A mask of keys, and what it is compared with: i64[1].
struct Mask {
  TensorId values;
  TensorId batch, keys;
  bool mayHaveStarts;  // as the mask_index of Attention
};

/// The form of a mask, which its shape decides; each is bool[1].
struct MaskForm {
  TensorId isList;     // of lengths: the first [batch] of [batch], [2 * batch] or [3 * batch + 2]
  TensorId hasStarts;  // the first keys follow the lengths, [2 * batch]
  TensorId isLonger;   // more follows the lengths
  TensorId isDummy;    // [batch or 1, 1], which hides nothing
};

MaskForm formOf(OnnxNode& node, const Mask& mask) {
  RuleParts parts(node);
  const TensorId rank = parts.rankOf(mask.values), count = parts.extents(mask.values, 0, 1);
  const auto isOf = [&](TensorId x, TensorId y) { return parts.pair("Equal", x, y); };
  const TensorId twice = parts.pair("Add", mask.batch, mask.batch);
  const TensorId cumulated = parts.pair("Add", parts.pair("Add", twice, mask.batch), parts.list({2}));
  const TensorId isList = isOf(rank, parts.list({1}));
  const TensorId hasStarts = mask.mayHaveStarts ? parts.pair("And", isList, isOf(count, twice)) : TensorId();
  const TensorId hasSums = parts.pair("And", isList, isOf(count, cumulated));
  const TensorId last = parts.extents(mask.values, -1, kMostAxes);
  return {isList, hasStarts, hasStarts ? parts.pair("Or", hasStarts, hasSums) : hasSums,
          parts.pair("And", isOf(rank, parts.list({2})), isOf(last, parts.list({1})))};
}

/// A key is seen where its element of the mask is larger than this, i32[keys]: the key's place for a list of lengths,
/// else 0; less than any element for a dummy.
TensorId leastOf(OnnxNode& node, const Mask& mask, const MaskForm& form) {
  RuleParts parts(node);
  const TensorId places =
      parts.pair("Mul", parts.countedTo(mask.keys), parts.cast(form.isList, cast::ElementType::i64));
  const TensorId least = parts.list({std::numeric_limits<int32_t>::min()});
  return parts.cast(parts.where(form.isDummy, least, places), cast::ElementType::i32);
}

/// Whether a key is not before the first one of its sample: bool[batch or 1, 1, 1, keys].
TensorId isBehindStart(OnnxNode& node, const Mask& mask, const MaskForm& form) {
  RuleParts parts(node);
  const TensorId one = parts.list({1}), none = parts.list({0});
  const TensorId end = parts.where(form.hasStarts, parts.pair("Add", mask.batch, mask.batch), mask.batch);
  const TensorId given = parts.sliced(parts.reshapedTo(mask.values, {-1}), mask.batch, end, 0);
  const TensorId all = parts.joined({given, parts.cast(none, cast::ElementType::i32)});
  const TensorId starts = parts.sliced(all, none, parts.where(form.hasStarts, mask.batch, one), 0);
  const TensorId places = parts.cast(parts.countedTo(mask.keys), cast::ElementType::i32);
  return parts.pair("GreaterOrEqual", places, parts.reshapedTo(starts, {-1, 1, 1, 1}));
}

/// Added to the scores: 0 where a key is seen, else `hidden`; f32, [batch, 1, queries or 1, keys]. The mask is a list
/// of lengths (MaskForm), or positive where a key is seen, [batch, keys] or [batch, queries, keys]. Attention refuses
/// what a list of another length becomes.
TensorId addedMask(OnnxNode& node, const Mask& mask, float hidden) {
  RuleParts parts(node);
  const MaskForm form = formOf(node, mask);
  const TensorId first = parts.list({0});
  const TensorId rows = parts.where(form.isLonger, mask.batch, parts.extents(mask.values, 0, 1));
  const TensorId missing = parts.pair("Sub", parts.list({4}), parts.rankOf(mask.values));
  const TensorId ones = parts.sliced(parts.list({1, 1, 1}), first, missing, 0);
  const TensorId shape = parts.joined({rows, ones, parts.extents(mask.values, 1, kMostAxes)});
  const TensorId given = parts.reshaped(parts.sliced(mask.values, first, rows, 0), shape);
  TensorId isSeen = parts.pair("Greater", given, leastOf(node, mask, form));
  if (mask.mayHaveStarts) isSeen = parts.pair("And", isSeen, isBehindStart(node, mask, form));
  return parts.where(isSeen, node.addConstant("seen", 0.0f), node.addConstant("hidden", hidden));
}

/// The sum of the mask, if it is given, and of attention_bias, if that is; absent without both.
TensorId maskOf(OnnxNode& node, Mask mask, TensorId bias, const Projections& made, const Past& past) {
  if (!mask.values) return bias;
  RuleParts parts(node);
  mask.batch = parts.extents(made.q, 0, 1);
  mask.keys = parts.extents(made.k, -2, -1);
  if (past.key) mask.keys = parts.pair("Add", mask.keys, parts.extents(past.key, 2, 3));
  const TensorId added = addedMask(node, mask, node.floatAttribute("mask_filter_value", -10000));
  return bias ? parts.pair("Add", parts.castLike(added, bias), bias) : added;
}

/// q, k and v of separate inputs, plus their parts of the bias [D + D + Dv]. Keys and values by heads have theirs
/// already.
Projections separate(OnnxNode& node) {
  const Projections given{node.input(0), node.input(1), node.input(2)};
  const TensorId bias = node.input(3);
  if (!bias) return given;
  RuleParts parts(node);
  const TensorId size = parts.extents(given.q, -1, kMostAxes), twice = parts.pair("Add", size, size);
  const TensorId end = parts.extents(bias, 0, 1), behind = parts.pair("Add", end, parts.list({1}));
  const TensorId zero = parts.castLike(parts.reshapedTo(node.addConstant("zero", 0.0f), {1}), bias);
  const TensorId all = parts.joined({bias, zero});
  const auto plus = [&](TensorId x, TensorId from, TensorId to) {
    const TensorId hasHeads = parts.pair("Equal", parts.rankOf(x), parts.list({4}));
    const TensorId part = parts.sliced(all, parts.where(hasHeads, end, from), parts.where(hasHeads, behind, to), 0);
    return parts.pair("Add", x, part);
  };
  const TensorId q = parts.pair("Add", given.q, parts.sliced(bias, parts.list({0}), size, 0));
  return {q, plus(given.k, size, twice), plus(given.v, twice, end)};
}

/// Keys [batch, tokens, heads, 2, size], where values lie beside them.
Result<Projections> packedKeys(OnnxNode& node) {
  if (node.input(3)) return Status::unsupported("bias must be absent where keys and values are packed");
  RuleParts parts(node);
  const std::vector<TensorId> both = parts.split(node.input(1), 3, std::vector<int64_t>{1, 1});
  return Projections{node.input(0), parts.turned(parts.squeezed(both[0], 3)), parts.turned(parts.squeezed(both[1], 3))};
}

/// Queries [batch, tokens, heads, 3, size], where keys and values lie beside them; the bias is [3 * heads * size].
Projections packedQueries(OnnxNode& node, int64_t heads) {
  RuleParts parts(node);
  std::vector<TensorId> all = parts.split(node.input(0), 3, std::vector<int64_t>{1, 1, 1});
  for (TensorId& one : all) one = parts.squeezed(one, 3);
  if (node.input(3)) {
    const std::vector<TensorId> biases = parts.split(node.input(3), 0, 3);
    for (size_t i = 0; i < 3; ++i) all[i] = parts.pair("Add", all[i], parts.reshapedTo(biases[i], {heads, -1}));
  }
  return {parts.reshapedTo(all[0], {0, 0, -1}), parts.turned(all[1]), parts.turned(all[2])};
}

/// Inputs query, key, value, bias, key_padding_mask, attention_bias, past_key, past_value.
Status multiHead(OnnxNode& node) {
  OPKIT_TRY(requireAbsent(node, 8, "past_sequence_length"));
  OPKIT_TRY(requireAbsent(node, 9, "cache_indirection"));
  OPKIT_ASSIGN(attention::AttentionParamsT params, paramsOf(node));
  params.scores = attention::Scores::Masked;
  Projections made{};
  if (!node.input(1)) {
    if (node.input(2)) return Status::invalidArgument("value needs a key, which is absent");
    made = packedQueries(node, params.q_heads);
  } else if (!node.input(2)) {
    OPKIT_ASSIGN(made, packedKeys(node));
  } else {
    made = separate(node);
  }
  const Past past{node.input(6), node.input(7)};
  const TensorId mask = maskOf(node, {.values = node.input(4), .mayHaveStarts = false}, node.input(5), made, past);
  return node.emit("Attention", {made.q, made.k, made.v, mask, past.key, past.value}, packParams(params));
}

/// Cuts [batch, tokens, D + D + Dv] into queries, keys and values.
Result<Projections> cut(OnnxNode& node, TensorId x) {
  RuleParts parts(node);
  const std::vector<int64_t> sizes = node.intsAttribute("qkv_hidden_sizes");
  if (!sizes.empty() && sizes.size() != 3)
    return Status::invalidArgument("qkv_hidden_sizes must list 3 sizes, got {}", sizes.size());
  const std::vector<TensorId> cuts = sizes.empty() ? parts.split(x, 2, 3) : parts.split(x, 2, sizes);
  return Projections{cuts[0], cuts[1], cuts[2]};
}

/// The attention of projections x, whose optional mask, past [2, batch, heads, tokens, size] and attention_bias are
/// inputs; output 1 is the past with the new tokens.
Status emitAttention(OnnxNode& node, TensorId x, size_t mask, size_t pastInput, TensorId bias) {
  OPKIT_TRY(requireOnly(node, "do_rotary", 0));
  OPKIT_TRY(requireOnly(node, "past_present_share_buffer", 0));
  OPKIT_TRY(requireOnly(node, "rotary_embedding_dim", 0));
  OPKIT_ASSIGN(const attention::AttentionParamsT params, paramsOf(node));
  OPKIT_ASSIGN(const Projections made, cut(node, x));
  RuleParts parts(node);
  Past past;
  if (node.input(pastInput)) {
    const std::vector<TensorId> both = parts.split(node.input(pastInput), 0, std::vector<int64_t>{1, 1});
    past = {parts.squeezed(both[0], 0), parts.squeezed(both[1], 0)};
  }
  const TensorId added = maskOf(node, {.values = node.input(mask), .mayHaveStarts = true}, bias, made, past);
  const std::vector<TensorId> inputs{made.q, made.k, made.v, added, past.key, past.value};
  if (!node.hasOutput(1)) return node.emitOutput(0, "Attention", inputs, packParams(params));
  const std::vector<TensorId> outputs = node.emitIntermediates("Attention", inputs, 3, packParams(params));
  OPKIT_TRY(node.emitOutput(0, "Identity", {outputs[0]}));
  const TensorId present = parts.joined({parts.unsqueezed(outputs[1], 0), parts.unsqueezed(outputs[2], 0)});
  return node.emitOutput(1, "Identity", {present});
}

/// Inputs x, weights, bias, mask_index, past, attention_bias.
Status merged(OnnxNode& node) {
  OPKIT_TRY(requireAbsent(node, 6, "past_sequence_length"));
  TensorId x = node.emitIntermediate("MatMul", {node.input(0), node.input(1)});
  if (node.input(2)) x = node.emitIntermediate("Add", {x, node.input(2)});
  return emitAttention(node, x, 3, 4, node.input(5));
}

/// Inputs x, weights, bias, scales of x and weights, mask_index, zero points of x and weights, past.
Status quantised(OnnxNode& node) {
  RuleParts parts(node);
  const ScaledProduct made =
      scaledProduct(node, {node.input(0), node.input(1), node.input(6), node.input(7)}, node.input(3), node.input(4));
  return emitAttention(node, parts.pair("Add", parts.pair("Mul", made.product, made.scale), node.input(2)), 5, 8, {});
}

}  // namespace

Status requireAbsent(const OnnxNode& node, size_t input, const char* name) {
  if (!node.input(input)) return Status::ok();
  return Status::unsupported("the input {} must be absent", name);
}

Result<int64_t> requiredHeads(const OnnxNode& node, const char* name) {
  OPKIT_ASSIGN(const int64_t heads, requiredInt(node, name));
  constexpr int64_t kMost = 1 << 20;
  if (heads >= 1 && heads <= kMost) return heads;
  return Status::invalidArgument("{} must be in [1, {}], got {}", name, kMost, heads);
}

Result<bool> flagOf(const OnnxNode& node, const char* name, bool fallback) {
  const int64_t value = node.intAttribute(name, fallback ? 1 : 0);
  if (value == 0 || value == 1) return value == 1;
  return Status::invalidArgument("{} must be 0 or 1, got {}", name, value);
}

void addAttentionRules(OnnxRules& rules) {
  rules.add(qualified("MultiHeadAttention"), {"mask_filter_value", "num_heads", "scale", "unidirectional"}, multiHead);
  const std::vector<OnnxAttribute> attributes{
      "do_rotary", "mask_filter_value", "num_heads", "past_present_share_buffer", "scale", "unidirectional"};
  rules.add(qualified("QAttention"), attributes, quantised);
  std::vector<OnnxAttribute> more = attributes;
  more.insert(more.end(), {"qkv_hidden_sizes", "rotary_embedding_dim"});
  rules.add(qualified("Attention"), more, merged);
  rules.note(qualified("MultiHeadAttention"), {"Attention", "Split", "Transpose", "Add"},
             "no past_sequence_length, cache_indirection; no bias where keys and values are packed");
  rules.note(qualified("QAttention"), {"MatMulInteger", "Attention", "Add", "Split"}, "as Attention");
  rules.note(qualified("Attention"), {"MatMul", "Attention", "Add", "Split"},
             "no mask_index of rank 4 with more rows than queries; no do_rotary, rotary_embedding_dim, "
             "past_present_share_buffer, past_sequence_length");
}

}  // namespace opkit::ops::com_microsoft
