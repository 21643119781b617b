// The rule of RotaryEmbedding of com.microsoft, and the rotation that GroupQueryAttention shares.
#include "ops/com_microsoft/rotary_rules.h"

#include "ops/com_microsoft/com_microsoft.h"
#include "ops/com_microsoft/rule_parts.h"
#include "ops/rotary_embedding/rotary_embedding_generated.h"

namespace opkit::ops::com_microsoft {
namespace {

enum Input : size_t { kX, kPositions, kCosines, kSines };

/// Places of tokens, i64[batch, tokens]: the input, if it is a matrix; else it is the place of the first token of every
/// sample. `batch` and `tokens` are i64[1].
TensorId placesOf(OnnxNode& node, TensorId batch, TensorId tokens) {
  RuleParts parts(node);
  const TensorId given = node.input(kPositions);
  const TensorId isFirst = parts.cast(parts.pair("Less", parts.rankOf(given), parts.list({2})), cast::ElementType::i64);
  const TensorId places = parts.pair("Add", given, parts.pair("Mul", parts.countedTo(tokens), isFirst));
  return parts.expanded(places, parts.joined({batch, tokens}));
}

/// x with a number of heads in the node, or with the heads as an axis.
Status emitRotation(OnnxNode& node, const Angles& angles, int64_t heads) {
  rotary_embedding::RotaryEmbeddingParamsT params;
  params.num_heads = heads;
  params.rotary_dim = node.intAttribute("rotary_embedding_dim", 0);
  OPKIT_ASSIGN(params.interleaved, flagOf(node, "interleaved"));
  return node.emit("RotaryEmbedding", {node.input(kX), angles.cosines, angles.sines}, packParams(params));
}

/// x without a number of heads: [batch, heads, tokens, size] as it is, and [batch, tokens, heads * size] as
/// [batch * tokens, heads, 1, size], where the caches tell the size of a head.
Status emitByCaches(OnnxNode& node, const Angles& angles, TensorId batch, TensorId tokens) {
  RuleParts parts(node);
  const TensorId x = node.input(kX), one = parts.list({1}), rest = parts.list({-1});
  const TensorId extents = node.emitIntermediate("Shape", {x});
  const TensorId pairs = parts.extents(node.input(kCosines), 1, 2);
  const TensorId hasHeads = parts.pair("Equal", parts.rankOf(x), parts.list({4}));
  const TensorId whole = parts.sliced(parts.joined({extents, one}), parts.list({0}), parts.list({4}), 0);
  const TensorId rows = parts.pair("Mul", batch, tokens);
  const TensorId split = parts.joined({rows, rest, one, parts.pair("Add", pairs, pairs)});
  const TensorId heads = parts.reshaped(x, parts.where(hasHeads, whole, split));
  const TensorId shape = parts.where(hasHeads, parts.joined({batch, tokens, pairs}), parts.joined({rows, one, pairs}));
  rotary_embedding::RotaryEmbeddingParamsT params;
  OPKIT_ASSIGN(params.interleaved, flagOf(node, "interleaved"));
  const TensorId y = node.emitIntermediate(
      "RotaryEmbedding", {heads, parts.reshaped(angles.cosines, shape), parts.reshaped(angles.sines, shape)},
      packParams(params));
  return node.emit("Reshape", {y, extents});
}

/// Inputs x, position_ids, cos_cache, sin_cache. As in ONNX Runtime, no result depends on is_packed_batching (whose
/// tokens may be more than the rows of the caches) and scale (which is for caches that are longer than given).
Status rotary(OnnxNode& node) {
  const int64_t heads = node.intAttribute("num_heads", 0), turned = node.intAttribute("rotary_embedding_dim", 0);
  if (heads < 0) return Status::invalidArgument("num_heads must be 0 or more, got {}", heads);
  if (turned < 0) return Status::invalidArgument("rotary_embedding_dim must be 0 or more, got {}", turned);
  if (turned != 0 && heads == 0) return Status::invalidArgument("rotary_embedding_dim {} needs num_heads", turned);
  RuleParts parts(node);
  const TensorId batch = parts.extents(node.input(kX), 0, 1), tokens = parts.extents(node.input(kX), -2, -1);
  // The second axis from the end holds the tokens in both forms.
  const Angles angles = anglesAt(node, node.input(kCosines), node.input(kSines), placesOf(node, batch, tokens));
  return heads > 0 ? emitRotation(node, angles, heads) : emitByCaches(node, angles, batch, tokens);
}

}  // namespace

Angles anglesAt(OnnxNode& node, TensorId cosines, TensorId sines, TensorId places) {
  RuleParts parts(node);
  return {parts.gathered(cosines, places), parts.gathered(sines, places)};
}

TensorId rotated(OnnxNode& node, TensorId x, const Angles& angles, const Rotation& rotation) {
  rotary_embedding::RotaryEmbeddingParamsT params;
  params.num_heads = rotation.heads;
  params.rotary_dim = rotation.turned;
  params.interleaved = rotation.interleaved;
  return node.emitIntermediate("RotaryEmbedding", {x, angles.cosines, angles.sines}, packParams(params));
}

void addRotaryRules(OnnxRules& rules) {
  rules.add(qualified("RotaryEmbedding"),
            {"interleaved", "is_packed_batching", "num_heads", "rotary_embedding_dim", "scale"}, rotary);
  rules.note(qualified("RotaryEmbedding"), {"Gather", "RotaryEmbedding"});
}

}  // namespace opkit::ops::com_microsoft
