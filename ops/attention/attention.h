// Shared by the files of Attention: where heads, tokens and mask elements lie, and which keys a query sees.
//
// The rule of hidden keys, for every kernel and the oracle. A key is hidden from a query by a mask of bool that is
// false, a mask of another type that is -infinity, the window, the lengths, or a mask that has no such key. A finite
// mask hides nothing. A hidden key contributes nothing, whatever its key and value hold, NaN and infinity too: kernels
// select its score, for NaN + -infinity is NaN, and leave out its value, for 0 * NaN is NaN. A row without a visible
// key is 0.
#pragma once

#include <algorithm>
#include <optional>

#include "engine/op/op_def.h"
#include "ops/attention/attention_parts.h"

namespace opkit::ops::attention {

/// Elements of a tensor of heads: [batch, heads, tokens, size], or [batch, tokens, heads * size].
struct Heads {
  int64_t batch, heads, tokens, size;
  int64_t batchStride, headStride, tokenStride;
};
/// InvalidArgument unless the shape has rank 4, or rank 3 and a last extent that `heads` divides; `name` is for the
/// message.
Result<Heads> headsOf(const Shape& shape, int64_t heads, std::string_view name);

/// Strides of a mask that broadcasts to [batch, heads, queries, keys]. Keys from `keys` on are masked.
struct MaskStrides {
  int64_t batch = 0, head = 0, query = 0, key = 0;
  int64_t keys = 0;
};

/// One node of FusedAttention.
struct AttentionPlan {
  Heads q, k, v, y;
  int64_t group = 1;  // query heads that share a head of k and v
  std::optional<MaskStrides> mask;
  int64_t left = -1, right = -1, past = 0;
  double scale = 1;
  float softcap = 0;

  int64_t rows() const { return group * q.tokens; }  // queries that share a head of k and v
};
Result<AttentionPlan> planAttention(const FusedAttentionParamsT& params, const Shape& q, const Shape& k, const Shape& v,
                                    const Shape* mask);

/// Inputs of FusedAttention.
enum FusedInput : size_t { kQ, kK, kV, kMask, kLengths, kSink };

/// The shape of the result: that of q, but for the size of a head.
Shape outputShape(const Shape& q, const Heads& queries, int64_t valueSize);

Status fusedReference(const OracleArgs& args);
Status scoresReference(const OracleArgs& args);
Status valuesReference(const OracleArgs& args);

HiddenElements fusedHidden(const OracleArgs& args);

// AttentionScores and AttentionValues, the two products with a stored matrix between them.
Result<std::vector<TensorDesc>> scoresRule(const ShapeArgs& args);
Status decomposeScores(const ShapeArgs& args, std::span<const TensorDesc> outputs, Decomposition& parts);
Result<std::vector<TensorDesc>> valuesRule(const ShapeArgs& args);
Status decomposeValues(const ShapeArgs& args, std::span<const TensorDesc> outputs, Decomposition& parts);

Result<std::vector<TensorDesc>> attentionRule(const ShapeArgs& args);
Status decomposeAttention(const ShapeArgs& args, std::span<const TensorDesc> outputs, Decomposition& parts);

}  // namespace opkit::ops::attention
