#include "engine/import/onnx/onnx_fields.h"
#include "ops/text/known_strings.h"
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

using Params = TfIdfVectorizerParamsT;

const OnnxFields<Params>& fields() {
  static const OnnxFields<Params> fields{
      choice(required("mode"), &Params::mode, {{"TF", Mode::tf}, {"IDF", Mode::idf}, {"TFIDF", Mode::tfidf}}),
      field(required("min_gram_length"), &Params::min_gram_length),
      field(required("max_gram_length"), &Params::max_gram_length),
      field(required("max_skip_count"), &Params::max_skip_count),
      field(required("ngram_counts"), &Params::ngram_counts)};
  return fields;
}

/// The tokens and the pool, as integers.
struct Tokens {
  TensorId x;
  std::vector<int64_t> pool;
};
Result<Tokens> tokensOf(OnnxNode& node) {
  const std::vector<std::string> strings = node.stringsAttribute("pool_strings");
  const std::vector<int64_t> integers = node.intsAttribute("pool_int64s");
  if (!strings.empty() && !integers.empty())
    return Status::invalidArgument("TfIdfVectorizer: expected one of pool_int64s and pool_strings, got both");
  if (strings.empty()) {
    OPKIT_TRY(text::requireNumbers(node, 0, "its pool"));
    return Tokens{node.input(0), integers};
  }
  const text::KnownStrings known = text::emitKnownStrings(node, 0, strings);
  return Tokens{known.places, known.words};
}

Status rule(OnnxNode& node) {
  OPKIT_ASSIGN(const Params params, readFields(node, fields()));
  const std::vector<int64_t> indexes = node.intsAttribute("ngram_indexes");
  OPKIT_ASSIGN(const Tokens tokens, tokensOf(node));
  std::vector<TensorId> inputs{tokens.x, node.addConstant("pool", tokens.pool), node.addConstant("indexes", indexes)};
  if (params.mode != Mode::tf && !node.floatsAttribute("weights").empty()) {
    OPKIT_ASSIGN(Tensor weights, columnWeights(node.floatsAttribute("weights"), indexes));
    inputs.push_back(node.addConstant("weights", std::move(weights)));
  }
  return node.emit("TfIdfVectorizer", std::move(inputs), packParams(params));
}

/// Pool, indexes and the weights of columns are constants behind x; ONNX has a weight per n-gram.
Status write(const Params& params, const OpNode& node, OnnxForm& form) {
  const Tensor *pool = valueOf(node, 1), *indexes = valueOf(node, 2), *weights = valueOf(node, 3);
  const bool hasWeights = node.inputs.size() > 3 && node.inputs[3];
  if (!pool || !indexes || (hasWeights && !weights))
    return Status::unsupported("TfIdfVectorizer of ONNX has its pool as attributes");
  form.attributes["pool_int64s"] = toInt64(*pool);
  form.attributes["ngram_indexes"] = toInt64(*indexes);
  if (hasWeights) {
    const OracleTensor columns = OracleTensor::fromTensor(*weights);
    std::vector<float> ofGrams;
    for (const int64_t index : toInt64(*indexes))
      ofGrams.push_back(
          index >= 0 && index < columns.elements() ? static_cast<float>(columns.real[static_cast<size_t>(index)]) : 1);
    form.attributes["weights"] = ofGrams;
  }
  form.inputs.resize(1);
  return writeFields(params, fields(), form);
}

}  // namespace

void addOnnx(OnnxRules& rules) {
  std::vector<OnnxAttribute> attributes = attributesOf(fields());
  attributes.insert(attributes.end(), {required("ngram_indexes"), "pool_int64s", "pool_strings", "weights"});
  rules.add("TfIdfVectorizer", attributes, {rule, inverseOf<Params>({"TfIdfVectorizer"}, write)}, 9);
  rules.note("TfIdfVectorizer", {}, "the n-grams of a column have one weight");
}

}  // namespace opkit::ops::tf_idf_vectorizer
