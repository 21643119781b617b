// Shared by the files of RotaryEmbedding: x seen as rows of heads.
#pragma once

#include "engine/op/op_def.h"
#include "ops/rotary_embedding/rotary_embedding_parts.h"

namespace opkit::ops::rotary_embedding {

/// A rotary_dim of as many elements as the caches have angles for.
constexpr int64_t kAsCachesSay = -1;

/// Rows of `size` elements, of which `2 * pairs` turn. Row r belongs to row angleOf(r) of the caches.
struct RotaryPlan {
  int64_t batch, heads, tokens, size, pairs;
  bool isPacked;  // heads are innermost

  int64_t rows() const { return batch * heads * tokens; }
  int64_t angleOf(int64_t row) const { return isPacked ? row / heads : row / (heads * tokens) * tokens + row % tokens; }
};
/// InvalidArgument says what is wrong with the shapes or the parameters.
Result<RotaryPlan> planRotary(const RotaryEmbeddingParamsT& params, const Shape& x, const Shape& cos);

}  // namespace opkit::ops::rotary_embedding
