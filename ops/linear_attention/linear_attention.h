// Shared by the files of LinearAttention.
#pragma once

#include "engine/op/op_def.h"
#include "ops/linear_attention/linear_attention_parts.h"

namespace opkit::ops::linear_attention {

enum Input : size_t { kQuery, kKey, kValue, kPast, kDecay, kBeta };

struct LinearPlan {
  int64_t batch, tokens;
  int64_t qHeads, heads;  // heads: of keys
  int64_t keySize, valueSize;
  int64_t decaySize;  // of a head: 0 without decay, 1, or keySize
  int64_t betaHeads;  // 0 without beta, 1, or heads
  double scale;
  bool isDelta;

  int64_t group() const { return qHeads / heads; }
  int64_t states() const { return batch * heads; }
};
/// InvalidArgument says what is wrong with the shapes or the parameters.
Result<LinearPlan> planLinear(const LinearAttentionParamsT& params, std::span<const TensorDesc* const> inputs);

}  // namespace opkit::ops::linear_attention
