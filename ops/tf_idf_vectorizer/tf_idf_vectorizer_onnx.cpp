#include "engine/import/onnx/onnx_rules.h"
#include "ops/tf_idf_vectorizer/tf_idf_vectorizer_parts.h"

namespace opkit::ops::tf_idf_vectorizer {
namespace {

/// Weight i belongs to the n-gram i of the pool: it weights the column of that.
Result<Tensor> columnWeights(const std::vector<float>& weights, const std::vector<int64_t>& indexes) {
  if (weights.size() != indexes.size())
    return Status::invalidArgument("TfIdfVectorizer: weights must have {} values, one per n-gram, got {}",
                                   indexes.size(), weights.size());
  std::vector<float> columns;
  std::vector<bool> isSet;
  for (size_t i = 0; i < indexes.size(); ++i) {
    if (indexes[i] < 0 || indexes[i] >= kMaxElements)
      return Status::invalidArgument("TfIdfVectorizer: ngram_indexes must be in [0, {}), got {}", kMaxElements,
                                     indexes[i]);
    const auto column = static_cast<size_t>(indexes[i]);
    if (column >= columns.size()) columns.resize(column + 1, 1), isSet.resize(column + 1, false);
    if (isSet[column] && columns[column] != weights[i])
      return Status::unsupported("TfIdfVectorizer: n-grams of column {} must have equal weights, got {} and {}", column,
                                 columns[column], weights[i]);
    columns[column] = weights[i];
    isSet[column] = true;
  }
  return Tensor::fromValues<float>({DType::Float32, {static_cast<int64_t>(columns.size())}}, columns);
}

Status rule(OnnxNode& node) {
  if (!node.stringsAttribute("pool_strings").empty())
    return Status::unsupported("TfIdfVectorizer: the pool must hold integers, got pool_strings");
  TfIdfVectorizerParamsT params;
  if (!node.hasAttribute("mode")) return Status::invalidArgument("TfIdfVectorizer: expected the attribute mode");
  OPKIT_ASSIGN(params.mode,
               choiceAttribute<Mode>(node, "mode", {{"TF", Mode::tf}, {"IDF", Mode::idf}, {"TFIDF", Mode::tfidf}}));
  for (const auto& [name, value] : {std::pair{"min_gram_length", &params.min_gram_length},
                                    {"max_gram_length", &params.max_gram_length},
                                    {"max_skip_count", &params.max_skip_count}}) {
    OPKIT_ASSIGN(const int64_t given, requiredInt(node, name));
    *value = static_cast<int>(given);
  }
  params.ngram_counts = node.intsAttribute("ngram_counts");
  const std::vector<int64_t> indexes = node.intsAttribute("ngram_indexes");
  std::vector<int> inputs{node.input(0), node.addConstant("pool", node.intsAttribute("pool_int64s")),
                          node.addConstant("indexes", indexes)};
  if (params.mode != Mode::tf && !node.floatsAttribute("weights").empty()) {
    OPKIT_ASSIGN(Tensor weights, columnWeights(node.floatsAttribute("weights"), indexes));
    inputs.push_back(node.addConstant("weights", std::move(weights)));
  }
  return node.emit("TfIdfVectorizer", std::move(inputs), packParams(params));
}

}  // namespace

void addOnnx(OnnxRules& rules) {
  rules.add("TfIdfVectorizer",
            {"max_gram_length", "max_skip_count", "min_gram_length", "mode", required("ngram_counts"),
             required("ngram_indexes"), "pool_int64s", "pool_strings", "weights"},
            rule, 9);
  rules.note("TfIdfVectorizer", {}, "the pool holds integers, and the n-grams of a column have one weight");
}

}  // namespace opkit::ops::tf_idf_vectorizer
