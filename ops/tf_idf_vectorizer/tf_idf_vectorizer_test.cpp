// The rule of TfIdfVectorizer: weights belong to n-grams.
#include "ops/features/onnx_ml_node.h"

namespace opkit::ops::tf_idf_vectorizer {
namespace {

using features::expectOutput;
using features::Node;
using features::refusalOf;

/// The pool of the ONNX text: [94, 17] has column 1, [17, 36] has column 0.
Node vectorizer(const std::string& mode) {
  Node node("TfIdfVectorizer", {{DType::Int64, {5}}});
  node.domain = "";
  node.version = 9;
  node.text["mode"] = mode;
  node.integer = {{"min_gram_length", 2}, {"max_gram_length", 2}, {"max_skip_count", 0}};
  node.integers["ngram_counts"] = {0, 0};
  node.integers["ngram_indexes"] = {1, 0};
  node.integers["pool_int64s"] = {94, 17, 17, 36};
  return node;
}
const Tensor& tokens() {
  static const Tensor values = features::tensor<int64_t>(DType::Int64, {5}, {94, 17, 36, 17, 36});
  return values;
}

TEST(TfIdfVectorizer, CountsPairs) {
  Node node = vectorizer("TF");
  expectOutput(node, {tokens()}, {2}, {2, 1});
}

TEST(TfIdfVectorizer, WeightsBelongToNGrams) {
  for (const auto& [mode, expected] :
       std::map<std::string, std::vector<double>>{{"TF", {2, 1}}, {"IDF", {0.25, 8}}, {"TFIDF", {0.5, 8}}}) {
    Node node = vectorizer(mode);
    node.numbers["weights"] = {8, 0.25};
    expectOutput(node, {tokens()}, {2}, expected);
  }
}

TEST(TfIdfVectorizer, RefusesWhatItCannotWeight) {
  Node strings = vectorizer("TF");
  strings.texts["pool_strings"] = {"a"};
  EXPECT_EQ(refusalOf(strings), "TfIdfVectorizer: expected one of pool_int64s and pool_strings, got both");
  Node shared = vectorizer("IDF");
  shared.integers["ngram_indexes"] = {1, 1};
  shared.numbers["weights"] = {8, 0.25};
  EXPECT_EQ(refusalOf(shared), "TfIdfVectorizer: n-grams of column 1 must have equal weights, got 8 and 0.25");
  Node few = vectorizer("IDF");
  few.numbers["weights"] = {8};
  EXPECT_EQ(refusalOf(few), "TfIdfVectorizer: weights must have 2 values, one per n-gram, got 1");
  Node mode = vectorizer("COUNT");
  EXPECT_EQ(refusalOf(mode), "TfIdfVectorizer: mode must be one of TF, IDF, TFIDF, got 'COUNT'");
}

}  // namespace
}  // namespace opkit::ops::tf_idf_vectorizer
