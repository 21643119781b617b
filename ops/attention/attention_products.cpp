// AttentionScores and AttentionValues: the two products of attention, for nodes that store the matrix between them.
// Queries that share a head of keys are rows of one product.
#include <cmath>

#include "engine/op/shape_rules.h"
#include "ops/attention/attention.h"
#include "ops/matmul/matmul_generated.h"
#include "ops/parts.h"

namespace opkit::ops::attention {
namespace {

using Value = Decomposition::Value;

struct Product {
  Heads q, k;
  Shape scores;

  Shape rows(int64_t size) const { return {q.batch, k.heads, q.heads / k.heads * q.tokens, size}; }
};

Result<Product> productOf(const ShapeArgs& args) {
  Product product{};
  OPKIT_ASSIGN(product.q, headsOf(args.shape(0), args.params<AttentionScoresParams>().q_heads, "q"));
  OPKIT_ASSIGN(product.k, headsOf(args.shape(1), 0, "k"));
  OPKIT_TRY(requireSameType(args, 1, "k", 0));
  const Heads &q = product.q, &k = product.k;
  if (q.batch != k.batch || q.size != k.size || k.heads == 0 || q.heads % k.heads != 0 || q.size == 0)
    return Status::invalidArgument("k must have the batch and size of q and a divisor of its heads, got {} and {}",
                                   toString(args.shape(1)), toString(args.shape(0)));
  product.scores = {q.batch, q.heads, q.tokens, k.tokens};
  return product;
}

DType scoresType(const ShapeArgs& args) {
  const ScoresType to = args.params<AttentionScoresParams>().to;
  return to == ScoresType::wide ? widened(args.input(0).dtype) : static_cast<DType>(to);
}

/// The type in which a product is computed: f32, or f64 if an input or the result has that type.
DType computedType(DType input, DType result) { return result == DType::Float64 ? result : widened(input); }

}  // namespace

Result<std::vector<TensorDesc>> scoresRule(const ShapeArgs& args) {
  OPKIT_ASSIGN(const Product product, productOf(args));
  return std::vector{TensorDesc{scoresType(args), product.scores}};
}

Status decomposeScores(const ShapeArgs& args, std::span<const TensorDesc>, Decomposition& parts) {
  OPKIT_ASSIGN(const Product product, productOf(args));
  const auto params = args.params<AttentionScoresParams>();
  const DType type = args.input(0).dtype, computed = computedType(type, scoresType(args));
  Value q = castTo(parts, parts.input(0), type, computed);
  if (args.shape(0).size() == 3) {
    OPKIT_ASSIGN(q, reshaped(parts, q, {product.q.batch, product.q.tokens, product.q.heads, product.q.size}));
    q = transposed(parts, q, {0, 2, 1, 3});
  }
  const double scale = params.scale.has_value() ? static_cast<double>(*params.scale)
                                                : 1 / std::sqrt(static_cast<double>(product.q.size));
  OPKIT_ASSIGN(const Value factor, scalarOf(parts, computed, scale));
  OPKIT_ASSIGN(q, reshaped(parts, parts.add("Mul", {q, factor}), product.rows(product.q.size)));
  Value k = castTo(parts, parts.input(1), type, computed);
  matmul::MatMulParamsT ofQAndK;
  ofQAndK.trans_b = computed == DType::Float32 || computed == DType::Float16;  // other products are loops over rows
  if (!ofQAndK.trans_b) k = transposed(parts, k, {0, 1, 3, 2});
  const Value matrices = parts.add("MatMul", {q, k}, packParams(ofQAndK));
  OPKIT_ASSIGN(const Value scores, reshaped(parts, matrices, product.scores));
  parts.setOutput(0, castTo(parts, scores, computed, scoresType(args)));
  return Status::ok();
}

namespace {

DType valuesType(const ShapeArgs& args) {
  const ValuesType to = args.params<AttentionValuesParams>().to;
  return to == ValuesType::same ? args.input(1).dtype : static_cast<DType>(to);
}

}  // namespace

Result<std::vector<TensorDesc>> valuesRule(const ShapeArgs& args) {
  const Shape &weights = args.shape(0), &v = args.shape(1);
  const bool fits = weights.size() == 4 && v.size() == 4 && weights[0] == v[0] && weights[3] == v[2];
  if (!fits || v[1] == 0 || weights[1] % v[1] != 0)
    return Status::invalidArgument(
        "weights must be [batch, heads, queries, keys] and v [batch, divisor of heads, keys, size], got {} and {}",
        toString(weights), toString(v));
  return std::vector{TensorDesc{valuesType(args), {weights[0], weights[1], weights[2], v[3]}}};
}

Status decomposeValues(const ShapeArgs& args, std::span<const TensorDesc> outputs, Decomposition& parts) {
  const Shape &weights = args.shape(0), &v = args.shape(1);
  const DType given = args.input(0).dtype, type = args.input(1).dtype;
  const DType computed = given == DType::Float64 ? given : computedType(type, outputs[0].dtype);
  OPKIT_ASSIGN(const Value rows, reshaped(parts, castTo(parts, parts.input(0), given, computed),
                                          {v[0], v[1], weights[1] / v[1] * weights[2], v[2]}));
  const Value product = parts.add("MatMul", {rows, castTo(parts, parts.input(1), type, computed)});
  OPKIT_ASSIGN(const Value y, reshaped(parts, product, outputs[0].shape));
  parts.setOutput(0, castTo(parts, y, computed, outputs[0].dtype));
  return Status::ok();
}

}  // namespace opkit::ops::attention
