// Ngrams: the n-grams of a pool as a tree of tokens, which the kernels of TfIdfVectorizer walk.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ops/tf_idf_vectorizer/tf_idf_vectorizer_parts.h"

namespace opkit::ops::tf_idf_vectorizer {

enum Input : size_t { kX, kPool, kIndexes, kWeights };

/// A prefix of n-grams. The children of a node lie side by side, sorted by token; they end where those of the next node
/// begin, and so do its columns.
struct NgramNode {
  int64_t token = 0;  // the last one of the prefix
  uint32_t firstChild = 0;
  uint32_t firstColumn = 0;  // of the n-grams that are this prefix
};

struct Ngrams {
  std::vector<NgramNode> nodes;   // the first is the empty prefix; one more node ends the list
  std::vector<uint32_t> columns;  // of the result
};

/// The n-grams of the lengths that the parameters ask for. REQUIRES a pool that the shape rule accepted.
Ngrams ngramsOf(const TfIdfVectorizerParamsT& params, std::span<const int64_t> pool, std::span<const int64_t> indexes);

}  // namespace opkit::ops::tf_idf_vectorizer
