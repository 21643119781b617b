#include "engine/import/onnx/onnx_rules.h"
#include "ops/gather/gather_generated.h"
#include "ops/rotary_embedding/rotary_embedding_parts.h"

namespace opkit::ops::rotary_embedding {
namespace {

/// Caches by position become caches by token.
Status rule(OnnxNode& node) {
  RotaryEmbeddingParamsT params;
  params.num_heads = node.intAttribute("num_heads", 0);
  params.rotary_dim = node.intAttribute("rotary_embedding_dim", 0);
  params.interleaved = node.intAttribute("interleaved", 0) != 0;
  int cosines = node.input(1), sines = node.input(2);
  if (const int positions = node.input(3); positions >= 0) {
    cosines = node.emitIntermediate("Gather", {cosines, positions}, packParams(gather::GatherParamsT()));
    sines = node.emitIntermediate("Gather", {sines, positions}, packParams(gather::GatherParamsT()));
  }
  return node.emit("RotaryEmbedding", {node.input(0), cosines, sines}, packParams(params));
}

}  // namespace

void addOnnx(OnnxRules& rules) {
  rules.add("RotaryEmbedding", {"interleaved", "num_heads", "rotary_embedding_dim"}, rule, 23);
}

}  // namespace opkit::ops::rotary_embedding
