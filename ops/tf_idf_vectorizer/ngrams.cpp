#include "ops/tf_idf_vectorizer/ngrams.h"

#include <algorithm>

namespace opkit::ops::tf_idf_vectorizer {
namespace {

struct Gram {
  std::span<const int64_t> tokens;
  uint32_t column;
};

std::vector<Gram> sortedGrams(const TfIdfVectorizerParamsT& params, std::span<const int64_t> pool,
                              std::span<const int64_t> indexes) {
  std::vector<Gram> grams;
  size_t number = 0;
  for (size_t level = 0; level < params.ngram_counts.size(); ++level) {
    const size_t length = level + 1, begin = static_cast<size_t>(params.ngram_counts[level]);
    const size_t end =
        length < params.ngram_counts.size() ? static_cast<size_t>(params.ngram_counts[length]) : pool.size();
    const bool isWanted =
        std::cmp_greater_equal(length, params.min_gram_length) && std::cmp_less_equal(length, params.max_gram_length);
    for (size_t at = begin; at < end; at += length, ++number)
      if (isWanted) grams.push_back({pool.subspan(at, length), static_cast<uint32_t>(indexes[number])});
  }
  std::ranges::stable_sort(
      grams, [](const Gram& a, const Gram& b) { return std::ranges::lexicographical_compare(a.tokens, b.tokens); });
  return grams;
}

/// Part of the sorted n-grams: those that begin with a prefix.
struct Range {
  size_t begin, end, length;  // of the prefix
};

}  // namespace

Ngrams ngramsOf(const TfIdfVectorizerParamsT& params, std::span<const int64_t> pool, std::span<const int64_t> indexes) {
  const std::vector<Gram> grams = sortedGrams(params, pool, indexes);
  Ngrams result;
  std::vector<Range> ranges{{0, grams.size(), 0}};  // of the nodes
  result.nodes.emplace_back();
  for (size_t node = 0; node < ranges.size(); ++node) {
    auto [at, end, length] = ranges[node];
    result.nodes[node].firstChild = static_cast<uint32_t>(ranges.size());
    result.nodes[node].firstColumn = static_cast<uint32_t>(result.columns.size());
    for (; at < end && grams[at].tokens.size() == length; ++at) result.columns.push_back(grams[at].column);
    while (at < end) {
      const int64_t token = grams[at].tokens[length];
      const size_t begin = at;
      while (at < end && grams[at].tokens[length] == token) ++at;
      ranges.push_back({begin, at, length + 1});
      result.nodes.push_back({token});
    }
  }
  result.nodes.push_back({0, static_cast<uint32_t>(ranges.size()), static_cast<uint32_t>(result.columns.size())});
  return result;
}

}  // namespace opkit::ops::tf_idf_vectorizer
