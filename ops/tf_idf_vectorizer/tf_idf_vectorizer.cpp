#include <algorithm>

#include "engine/op/op_registry.h"
#include "engine/op/shape_rules.h"
#include "ops/tf_idf_vectorizer/tf_idf_vectorizer_parts.h"

namespace opkit::ops::tf_idf_vectorizer {
namespace {

Status checkLengths(const TfIdfVectorizerParamsT& params) {
  const auto levels = static_cast<int64_t>(params.ngram_counts.size());
  if (params.min_gram_length < 1 || params.min_gram_length > params.max_gram_length)
    return Status::invalidArgument("min_gram_length must be in [1, {}], got {}", params.max_gram_length,
                                   params.min_gram_length);
  if (params.max_gram_length > levels)
    return Status::invalidArgument("max_gram_length must be at most {}, the lengths in ngram_counts, got {}", levels,
                                   params.max_gram_length);
  if (params.max_skip_count < 0)
    return Status::invalidArgument("max_skip_count must not be negative, got {}", params.max_skip_count);
  return Status::ok();
}

/// The number of n-grams in a pool.
Result<int64_t> gramsOf(const std::vector<int64_t>& starts, int64_t poolSize) {
  int64_t grams = 0;
  for (size_t level = 0; level < starts.size(); ++level) {
    const int64_t begin = starts[level], end = level + 1 < starts.size() ? starts[level + 1] : poolSize;
    const auto length = static_cast<int64_t>(level + 1);
    if (begin < 0 || begin > end || end > poolSize)
      return Status::invalidArgument("ngram_counts must rise from 0 to {} at most, got {} before {}", poolSize, begin,
                                     end);
    if ((end - begin) % length != 0)
      return Status::invalidArgument("{} elements of the pool must divide into n-grams of length {}", end - begin,
                                     length);
    grams += (end - begin) / length;
  }
  return grams;
}

Result<std::vector<TensorDesc>> shapeRule(const ShapeArgs& args) {
  const auto params = args.params<TfIdfVectorizerParams>();
  Shape shape = args.shape(0);
  if (shape.empty() || shape.size() > 2)
    return Status::invalidArgument("x must be [length] or [rows, length], got {}", toString(shape));
  OPKIT_TRY(requireList(args, 1, "pool"));
  OPKIT_TRY(requireList(args, 2, "indexes"));
  OPKIT_TRY(checkLengths(params));
  OPKIT_ASSIGN(const int64_t grams, gramsOf(params.ngram_counts, elementCount(args.shape(1))));
  const std::vector<int64_t> indexes = args.integers(2);
  if (static_cast<int64_t>(indexes.size()) != grams)
    return Status::invalidArgument("indexes must be [{}], one per n-gram, got {}", grams, toString(args.shape(2)));
  int64_t columns = 0;
  for (const int64_t index : indexes) {
    if (index < 0 || index >= kMaxElements)
      return Status::invalidArgument("indexes must be in [0, {}), got {}", kMaxElements, index);
    columns = std::max(columns, index + 1);
  }
  if (args.hasInput(3) && args.shape(3) != Shape{columns})
    return Status::invalidArgument("weights must be [{}], one per column, got {}", columns, toString(args.shape(3)));
  shape.back() = columns;
  return std::vector{TensorDesc{DType::Float32, std::move(shape)}};
}

}  // namespace

void define(OpRegistry& registry) {
  constexpr DTypeSet kTokens{DType::Int32, DType::Int64}, kLists{DType::Int64};
  registry.add({.type = "TfIdfVectorizer",
                .summary = "counts the n-grams of a pool in each row of tokens, and weights the counts",
                .params = paramsSchema<TfIdfVectorizerParams>(kTfIdfVectorizerSchema),
                .inputs = {{"x", kTokens},
                           {"pool", kLists, Port::Kind::Required, true},
                           {"indexes", kLists, Port::Kind::Required, true},
                           {"weights", DTypeSet{DType::Float32}, Port::Kind::Optional}},
                .outputs = {{"y", DTypeSet{DType::Float32}}},
                .numeric = NumericClass::OneRounding,
                .inferShapes = shapeRule,
                .flops = [](const ShapeArgs& args, auto) { return static_cast<double>(args.input(0).elements()); },
                .oracle = reference});
}

}  // namespace opkit::ops::tf_idf_vectorizer
