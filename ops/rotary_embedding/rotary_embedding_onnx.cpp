#include "engine/import/onnx/onnx_fields.h"
#include "ops/gather/gather_generated.h"
#include "ops/rotary_embedding/rotary_embedding_parts.h"

namespace opkit::ops::rotary_embedding {
namespace {

using Params = RotaryEmbeddingParamsT;

const OnnxFields<Params>& fields() {
  static const OnnxFields<Params> fields{field("num_heads", &Params::num_heads),
                                         field("rotary_embedding_dim", &Params::rotary_dim),
                                         field("interleaved", &Params::interleaved)};
  return fields;
}

/// Caches by position become caches by token.
Status rule(OnnxNode& node) {
  OPKIT_ASSIGN(const Params params, readFields(node, fields()));
  if (params.rotary_dim < 0)
    return Status::invalidArgument("rotary_embedding_dim must be 0 or more, got {}", params.rotary_dim);
  TensorId cosines = node.input(1), sines = node.input(2);
  if (const TensorId positions = node.input(3); positions) {
    cosines = node.emitIntermediate("Gather", {cosines, positions}, packParams(gather::GatherParamsT()));
    sines = node.emitIntermediate("Gather", {sines, positions}, packParams(gather::GatherParamsT()));
  }
  return node.emit("RotaryEmbedding", {node.input(0), cosines, sines}, packParams(params));
}

}  // namespace

void addOnnx(OnnxRules& rules) {
  rules.add("RotaryEmbedding", attributesOf(fields()), {rule, inverseOf({"RotaryEmbedding"}, fields())}, 23);
}

}  // namespace opkit::ops::rotary_embedding
