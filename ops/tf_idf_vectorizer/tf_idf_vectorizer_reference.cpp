// Each n-gram of the pool by itself: every place of the row where it stands, for every skip.
#include "engine/op/oracle_elements.h"
#include "ops/tf_idf_vectorizer/tf_idf_vectorizer_parts.h"

namespace opkit::ops::tf_idf_vectorizer {
namespace {

using Tokens = std::vector<int64_t>;

/// How often the n-gram stands in the row with `distance` from token to token.
int64_t timesIn(const Tokens& row, const Tokens& gram, size_t distance) {
  const size_t span = (gram.size() - 1) * distance;
  int64_t times = 0;
  for (size_t start = 0; start + span < row.size(); ++start) {
    bool isHere = true;
    for (size_t k = 0; k < gram.size(); ++k) isHere = isHere && row[start + k * distance] == gram[k];
    times += isHere ? 1 : 0;
  }
  return times;
}

/// The n-grams in the order of the pool; an empty one for each that is too short or too long to count.
std::vector<Tokens> gramsOf(const TfIdfVectorizerParamsT& params, const Tokens& pool) {
  std::vector<Tokens> grams;
  Tokens gram;
  for (int64_t at = params.ngram_counts[0]; at < static_cast<int64_t>(pool.size()); ++at) {
    gram.push_back(pool[static_cast<size_t>(at)]);
    int64_t length = 0;  // the largest one whose n-grams begin here or before
    for (size_t level = 0; level < params.ngram_counts.size(); ++level)
      if (params.ngram_counts[level] <= at) length = static_cast<int64_t>(level) + 1;
    if (static_cast<int64_t>(gram.size()) < length) continue;
    if (length < params.min_gram_length || length > params.max_gram_length) gram.clear();
    grams.push_back(gram);
    gram.clear();
  }
  return grams;
}

double weighted(Mode mode, int64_t count, double weight) {
  switch (mode) {
    case Mode::tf: return static_cast<double>(count);
    case Mode::idf: return count > 0 ? weight : 0;
    case Mode::tfidf: return static_cast<double>(count) * weight;
  }
  return 0;
}

}  // namespace

Status reference(const OracleArgs& args) {
  const auto params = args.params<TfIdfVectorizerParams>();
  const OracleTensor& x = args.input(0);
  OracleTensor& y = args.output();
  const std::vector<Tokens> grams = gramsOf(params, args.input(1).integer);
  std::vector<Tokens> rows;
  forEachRowAlong(x.shape(), -1, [&](size_t, const std::vector<size_t>& elements) {
    rows.emplace_back();
    for (const size_t element : elements) rows.back().push_back(x.integer[element]);
  });
  forEachRowAlong(y.shape(), -1, [&](size_t row, const std::vector<size_t>& results) {
    const Tokens& tokens = rows[row];
    std::vector<int64_t> counts(results.size(), 0);
    for (size_t i = 0; i < grams.size(); ++i) {
      if (grams[i].empty()) continue;
      const int64_t skips = grams[i].size() == 1 ? 0 : params.max_skip_count;  // no skip moves a single token
      for (int64_t skip = 0; skip <= skips; ++skip)
        counts[static_cast<size_t>(args.input(2).integer[i])] +=
            timesIn(tokens, grams[i], static_cast<size_t>(skip) + 1);
    }
    for (size_t column = 0; column < results.size(); ++column)
      y.real[results[column]] =
          weighted(params.mode, counts[column], args.hasInput(3) ? args.input(3).real[column] : 1);
  });
  return Status::ok();
}

}  // namespace opkit::ops::tf_idf_vectorizer
