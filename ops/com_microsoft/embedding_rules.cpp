// The rule of EmbedLayerNormalization of com.microsoft.
#include "ops/com_microsoft/com_microsoft.h"
#include "ops/com_microsoft/rule_parts.h"
#include "ops/layer_norm/layer_norm_generated.h"
#include "ops/reduce/reduce_generated.h"

namespace opkit::ops::com_microsoft {
namespace {

enum Input : size_t {
  kWords,
  kSegments,
  kWordTable,
  kPositionTable,
  kSegmentTable,
  kGamma,
  kBeta,
  kMask,
  kPositions,
};

/// The sum of the rows of the tables, [batch, tokens, size]. Token i takes row i of the table of positions, unless
/// their places are given, and row 0 of a table of segments without segments.
TensorId embeddingsOf(OnnxNode& node) {
  RuleParts parts(node);
  const TensorId words = node.input(kWords);
  const TensorId places = node.input(kPositions) ? node.input(kPositions) : parts.countedTo(parts.extents(words, 1, 2));
  const TensorId sum = parts.pair("Add", parts.gathered(node.input(kWordTable), words),
                                  parts.gathered(node.input(kPositionTable), places));
  if (!node.input(kSegmentTable)) return sum;
  const TensorId segments = node.input(kSegments) ? node.input(kSegments) : parts.list({0});
  return parts.pair("Add", sum, parts.gathered(node.input(kSegmentTable), segments));
}

/// Output 1: how many elements of each row of the mask are 1, i32[batch]; 0 without a mask.
Status emitMaskIndex(OnnxNode& node) {
  RuleParts parts(node);
  const TensorId zero = parts.cast(parts.list({0}), cast::ElementType::i32);
  if (!node.input(kMask)) return node.emitOutput(1, "Expand", {zero, parts.extents(node.input(kWords), 0, 1)});
  const TensorId one = parts.cast(parts.list({1}), cast::ElementType::i32);
  const TensorId isOne = parts.cast(parts.pair("Equal", node.input(kMask), one), cast::ElementType::i32);
  reduce::ReduceParamsT params;
  params.keep_dims = false;
  return node.emitOutput(1, "ReduceSum", {isOne, parts.list({1})}, packParams(params));
}

Status embedLayerNorm(OnnxNode& node) {
  if (node.input(kSegments) && !node.input(kSegmentTable))
    return Status::invalidArgument("segment_ids need segment_embedding");
  const int64_t maskType = node.intAttribute("mask_index_type", 1);
  if (maskType != 0 && maskType != 1)
    return Status::invalidArgument("mask_index_type must be 0 or 1, got {}", maskType);
  const TensorId sum = embeddingsOf(node);
  layer_norm::LayerNormParamsT params;
  params.epsilon = node.floatAttribute("epsilon", 1e-12f);
  OPKIT_TRY(node.emitOutput(0, "LayerNormalization", {sum, node.input(kGamma), node.input(kBeta)}, packParams(params)));
  if (node.hasOutput(1)) OPKIT_TRY(emitMaskIndex(node));
  return node.emitOutput(2, "Identity", {sum});
}

}  // namespace

void addEmbeddingRules(OnnxRules& rules) {
  rules.add(qualified("EmbedLayerNormalization"), {"epsilon", "mask_index_type"}, embedLayerNorm);
  rules.note(qualified("EmbedLayerNormalization"), {"Gather", "Add", "LayerNormalization", "ReduceSum"});
}

}  // namespace opkit::ops::com_microsoft
