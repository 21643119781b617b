// Networks of ai.onnx.ml with strings, as exporters of scikit-learn and ML.NET write them, on every backend. Expected
// values are those of ONNX Runtime 1.30 for the same networks (reports/peers/learning_cases.mjs).
#include "harness/conformance/learning_network.h"

#include <cmath>

#include "ops/features/zip_map.h"

namespace opkit::harness::learning {
namespace {

// Exports of scikit-learn

const Tensor kIris = floats({4, 3}, {5.1f, 3.5f, 1.4f, 6.7f, 3.1f, 4.4f, 6.3f, 3.3f, 6, 5, 2, 3.5f});
const Strings kFlowers{"setosa", "versicolor", "virginica"};

Network logisticRegression(std::map<std::string, Attribute> more) {
  more["coefficients"] = Floats{1, 0.5f, -1, 0.25f, 2, -0.5f, -1, -1, 0.75f};
  more["intercepts"] = Floats{0.5f, 0, -0.25f};
  return {.inputs = {{"X", kIris}},
          .steps = {{"Scaler",
                     {"X"},
                     {"variable"},
                     {{"offset", Floats{5.75f, 3, 3.5f}}, {"scale", Floats{1.25f, 2.5f, 0.5f}}}},
                    {"LinearClassifier", {"variable"}, {"label", "probability_tensor"}, std::move(more)},
                    {"Normalizer", {"probability_tensor"}, {"probabilities"}, {{"norm", "L1"}}}},
          .outputs = {"output_label", "output_probability"},
          .maps = "output_probability"};
}

TEST(Learning, LogisticRegressionOfStrings) {
  Network network =
      logisticRegression({{"classlabels_strings", kFlowers}, {"multi_class", 1}, {"post_transform", "SOFTMAX"}});
  network.steps.push_back({"Identity", {"label"}, {"output_label"}, {}, ""});
  network.steps.push_back({"ZipMap", {"probabilities"}, {"output_probability"}, {{"classlabels_strings", kFlowers}}});
  const Floats shares{0.18650307f, 0.80257308f, 0.010923844f, 0.65792423f,   0.29840887f,    0.04366691f,
                      0.29156488f, 0.60767311f, 0.10076209f,  0.0075755874f, 0.00021828711f, 0.99220616f};
  expectOutputs(network, {list({"versicolor", "setosa", "versicolor", "virginica"}), floats({4, 3}, shares)});
  const Model model = *import(network);
  EXPECT_EQ(ops::features::columnLabels(model, 1), kFlowers);
  EXPECT_EQ(ops::features::columnLabels(model, 0), Strings{});
}

TEST(Learning, LogisticRegressionOfIntegers) {
  Network network = logisticRegression({{"classlabels_ints", Integers{0, 5, 9}}, {"post_transform", "LOGISTIC"}});
  network.steps.push_back({"Cast", {"label"}, {"output_label"}, {{"to", 7}}, ""});
  network.steps.push_back(
      {"ZipMap", {"probabilities"}, {"output_probability"}, {{"classlabels_int64s", Integers{0, 5, 9}}}});
  const Floats shares{0.41333574f, 0.49000546f, 0.096658818f, 0.48510253f, 0.38946089f,   0.12543657f,
                      0.35245565f, 0.45174146f, 0.19580291f,  0.13915969f, 0.0047263717f, 0.85611397f};
  expectOutputs(network, {integers({4}, {5, 0, 5, 9}), floats({4, 3}, shares)});
  EXPECT_EQ(ops::features::columnLabels(*import(network), 1), (Strings{"0", "5", "9"}));
}

/// Trees of one test each: feature `tree` against a split.
struct Stump {
  float split;
  std::vector<std::pair<int64_t, float>> whenTrue, whenFalse;  // votes
};
std::map<std::string, Attribute> forestOf(const std::vector<Stump>& stumps) {
  Integers trees, ids, features, yes, no, voteTrees, voteNodes, votes;
  Floats splits, weights;
  Strings modes;
  for (int64_t tree = 0; tree < std::ssize(stumps); ++tree) {
    const Stump& stump = stumps[static_cast<size_t>(tree)];
    for (const int64_t id : {0, 1, 2}) {
      trees.push_back(tree), ids.push_back(id);
      features.push_back(id == 0 ? tree : 0);
      modes.push_back(id == 0 ? "BRANCH_LEQ" : "LEAF");
      splits.push_back(id == 0 ? stump.split : 0);
      yes.push_back(id == 0 ? 1 : 0), no.push_back(id == 0 ? 2 : 0);
    }
    for (const int64_t id : {1, 2})
      for (const auto& [target, weight] : id == 1 ? stump.whenTrue : stump.whenFalse) {
        voteTrees.push_back(tree), voteNodes.push_back(id);
        votes.push_back(target), weights.push_back(weight);
      }
  }
  return {{"nodes_treeids", trees},   {"nodes_nodeids", ids},       {"nodes_featureids", features},
          {"nodes_modes", modes},     {"nodes_values", splits},     {"nodes_truenodeids", yes},
          {"nodes_falsenodeids", no}, {"class_treeids", voteTrees}, {"class_nodeids", voteNodes},
          {"class_ids", votes},       {"class_weights", weights}};
}

TEST(Learning, RandomForest) {
  std::map<std::string, Attribute> forest = forestOf({{5.5f, {{0, 0.25f}, {1, 0.75f}}, {{2, 1}}},
                                                      {2.75f, {{1, 0.5f}, {2, 0.5f}}, {{0, 1}}},
                                                      {4, {{0, 0.125f}, {1, 0.5f}, {2, 0.375f}}, {{1, 1}}}});
  forest["classlabels_strings"] = kFlowers;
  forest["post_transform"] = "NONE";
  const Network network{
      .inputs = {{"X", kIris}},
      .steps = {{"TreeEnsembleClassifier", {"X"}, {"label", "probabilities"}, forest},
                {"ZipMap", {"probabilities"}, {"output_probability"}, {{"classlabels_strings", kFlowers}}}},
      .outputs = {"label", "output_probability"},
      .maps = "output_probability"};
  expectOutputs(network, {list({"setosa", "setosa", "setosa", "versicolor"}),
                          floats({4, 3}, {1.375f, 1.25f, 0.375f, 1, 1, 1, 1, 1, 1, 0.375f, 1.75f, 0.875f})});
}

TEST(Learning, ColumnsOfNumbersAndStrings) {
  const Floats row{0.5f, -0.25f, -1.25f, 1.5f, 0.125f, -0.5f, 0.25f, 0.375f};
  Floats coefficients = row;
  for (const float value : row) coefficients.push_back(-value);
  const Network network{
      .inputs = {{"age", floats({4, 1}, {22, NAN, 38, 4})},
                 {"fare", floats({4, 1}, {7.25f, 8, NAN, 71})},
                 {"sex", stringTensor({4, 1}, {"male", "female", "female", "unknown"})},
                 {"port", stringTensor({4, 1}, {"S", "C", "", "Q"})}},
      .steps =
          {{"Concat", {"age", "fare"}, {"numbers"}, {{"axis", 1}}, ""},
           {"Imputer",
            {"numbers"},
            {"filled"},
            {{"imputed_value_floats", Floats{28, 14.5f}}, {"replaced_value_float", NAN}}},
           {"Scaler", {"filled"}, {"scaled"}, {{"offset", Floats{29.5f, 32}}, {"scale", Floats{0.0625f, 0.03125f}}}},
           {"Concat", {"sex", "port"}, {"words"}, {{"axis", 1}}, ""},
           {"ArrayFeatureExtractor", {"words", "column0"}, {"word0"}},
           {"ArrayFeatureExtractor", {"words", "column1"}, {"word1"}},
           {"OneHotEncoder", {"word0"}, {"hot0"}, {{"cats_strings", Strings{"female", "male"}}, {"zeros", 1}}},
           {"OneHotEncoder", {"word1"}, {"hot1"}, {{"cats_strings", Strings{"", "C", "Q", "S"}}, {"zeros", 1}}},
           {"Concat", {"hot0", "hot1"}, {"hot"}, {{"axis", 2}}, ""},
           {"Reshape", {"hot", "rows"}, {"flat"}, {}, ""},
           {"Concat", {"scaled", "flat"}, {"features"}, {{"axis", 1}}, ""},
           {"LinearClassifier",
            {"features"},
            {"label", "probability_tensor"},
            {{"coefficients", coefficients},
             {"intercepts", Floats{0.25f, -0.25f}},
             {"classlabels_ints", Integers{0, 1}},
             {"multi_class", 1},
             {"post_transform", "LOGISTIC"}}},
           {"Normalizer", {"probability_tensor"}, {"probabilities"}, {{"norm", "L1"}}},
           {"Cast", {"label"}, {"output_label"}, {{"to", 7}}, ""},
           {"ZipMap", {"probabilities"}, {"maps"}, {{"classlabels_int64s", Integers{0, 1}}}}},
      .outputs = {"output_label", "maps"},
      .constants = {{"column0", integers({1}, {0})}, {"column1", integers({1}, {1})}, {"rows", integers({2}, {-1, 6})}},
      .maps = "maps"};
  expectOutputs(network,
                {integers({4}, {0, 1, 1, 1}), floats({4, 2}, {0.88933676f, 0.11066324f, 0.20434192f, 0.79565811f,
                                                              0.38398775f, 0.61601228f, 0.35398632f, 0.64601368f})});
}

// An export of ML.NET

TEST(Learning, KeysOfMLNet) {
  const Network network{
      .inputs = {{"vendor", stringTensor({3, 1}, {"CMT", "VTS", "new"})},
                 {"count", integers({3, 1}, {1, 2, 4})},
                 {"distance", floats({3, 1}, {3.75f, 1.5f, 0.25f})}},
      .steps = {{"LabelEncoder",
                 {"vendor"},
                 {"key64"},
                 {{"keys_strings", Strings{"VTS", "CMT"}}, {"values_int64s", Integers{1, 2}}, {"default_int64", 0}}},
                {"Cast", {"key64"}, {"key"}, {{"to", 12}}, ""},
                {"Cast", {"key"}, {"key0"}, {{"to", 7}}, ""},
                {"OneHotEncoder", {"key0"}, {"hot"}, {{"cats_int64s", Integers{1, 2}}, {"zeros", 1}}},
                {"Squeeze", {"hot", "one"}, {"vendors"}, {}, ""},
                {"Cast", {"count"}, {"count0"}, {{"to", 1}}, ""},
                {"FeatureVectorizer",
                 {"vendors", "count0", "distance"},
                 {"features"},
                 {{"inputdimensions", Integers{2, 1, 1}}}},
                {"Normalizer", {"features"}, {"unit"}, {{"norm", "MAX"}}},
                {"Gemm", {"unit", "weights", "offsets"}, {"scores"}, {}, ""},
                {"Softmax", {"scores"}, {"Score"}, {{"axis", 1}}, ""},
                {"ArgMax", {"Score"}, {"place"}, {{"axis", 1}, {"keepdims", 1}}, ""},
                {"LabelEncoder",
                 {"place"},
                 {"PredictedLabel"},
                 {{"keys_int64s", Integers{0, 1, 2}}, {"values_strings", Strings{"cash", "card", "none"}}}},
                {"Slice", {"Score", "from", "to", "axis"}, {"second"}, {}, ""}},
      .outputs = {"Score", "PredictedLabel", "second"},
      .constants = {{"one", integers({1}, {1})},
                    {"weights", floats({4, 3}, {1, 0, -1, 0.5f, 2, 0, -0.25f, 0.5f, 1, 0.75f, -1, 0.125f})},
                    {"offsets", floats({3}, {0.125f, 0, -0.25f})},
                    {"from", integers({1}, {1})},
                    {"to", integers({1}, {2})},
                    {"axis", integers({1}, {1})}},
      .version = 2};
  expectOutputs(network, {floats({3, 3}, {0.57844931f, 0.16163667f, 0.25991404f, 0.53843474f, 0.16421331f, 0.29735193f,
                                          0.20073628f, 0.33617002f, 0.46309376f}),
                          stringTensor({3, 1}, {"cash", "cash", "none"}),
                          floats({3, 1}, {0.16163667f, 0.16421331f, 0.33617002f})});
}

// Single nodes

Network nodeOf(const std::string& type, Tensor x, std::map<std::string, Attribute> attributes, size_t outputs = 1) {
  Network network{.inputs = {{"x", std::move(x)}}, .steps = {}, .outputs = {"y", "z"}};
  network.outputs.resize(outputs);
  network.steps.push_back({type, {"x"}, network.outputs, std::move(attributes)});
  return network;
}

const Tensor kPets = stringTensor({2, 3}, {"cat", "dog", "emu", "", "dog", "Dog"});

TEST(Learning, LabelsOfTheFirstLabelEncoder) {
  const std::map<std::string, Attribute> classes{{"classes_strings", Strings{"dog", "cat", ""}}};
  expectOutputs(nodeOf("LabelEncoder", kPets, classes), {integers({2, 3}, {1, 0, -1, 2, 0, -1})});
  expectOutputs(nodeOf("LabelEncoder", integers({4}, {1, 0, 3, -1}), classes),
                {list({"cat", "dog", "_Unused", "_Unused"})});
}

TEST(Learning, CategoriesOfBothKinds) {
  const std::map<std::string, Attribute> categories{{"cats_strings", Strings{"dog", "cat"}},
                                                    {"cats_int64s", Integers{20, 10}},
                                                    {"default_int64", -5},
                                                    {"default_string", "none"}};
  expectOutputs(nodeOf("CategoryMapper", kPets, categories), {integers({2, 3}, {10, 20, -5, -5, 20, -5})});
  expectOutputs(nodeOf("CategoryMapper", integers({3}, {10, 20, 30}), categories), {list({"cat", "dog", "none"})});
}

TEST(Learning, OneHotEncoderOfStrings) {
  std::map<std::string, Attribute> categories{{"cats_strings", Strings{"dog", "cat", "emu", "yak"}}};
  expectOutputs(nodeOf("OneHotEncoder", kPets, categories),
                {floats({2, 3, 4}, {0, 1, 0, 0, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0})});
  categories["zeros"] = 0;
  expectOutputs(nodeOf("OneHotEncoder", list({"emu", "dog"}), categories), {floats({2, 4}, {0, 0, 1, 0, 1, 0, 0, 0})});
  EXPECT_NE(errorOf(nodeOf("OneHotEncoder", kPets, categories)), "none") << "Dog is unknown";
}

TEST(Learning, FeaturesThatAreStrings) {
  Network rows = nodeOf("ArrayFeatureExtractor", kPets, {});
  rows.constants["columns"] = integers({1, 2}, {2, 1});
  rows.steps[0].inputs.push_back("columns");
  expectOutputs(rows, {stringTensor({2, 2}, {"emu", "dog", "Dog", "dog"})});
  Network words = rows;
  words.inputs["x"] = list({"a", "b", "c"});
  expectOutputs(words, {stringTensor({1, 2}, {"c", "b"})});
}

TEST(Learning, GramsOfStrings) {
  Network network = nodeOf("TfIdfVectorizer",
                           stringTensor({2, 5}, {"the", "cat", "sat", "the", "dog", "the", "the", "cat", "cat", "sat"}),
                           {{"mode", "TF"},
                            {"min_gram_length", 1},
                            {"max_gram_length", 2},
                            {"max_skip_count", 1},
                            {"ngram_counts", Integers{0, 3}},
                            {"ngram_indexes", Integers{1, 0, 2, 4, 3}},
                            {"pool_strings", Strings{"the", "cat", "sat", "the", "cat", "cat", "sat"}}});
  network.steps[0].domain = "";
  expectOutputs(network, {floats({2, 5}, {1, 2, 1, 1, 1, 2, 2, 1, 2, 3})});
}

TEST(Learning, SupportVectorsNameStrings) {
  std::map<std::string, Attribute> machine{{"coefficients", Floats{1, 0.5f, -2, -0.25f}},
                                           {"rho", Floats{0.5f}},
                                           {"vectors_per_class", Integers{2, 2}},
                                           {"support_vectors", Floats{1, 0, -1, 2, 0.5f, 0.5f, 2, -1}},
                                           {"kernel_type", "RBF"},
                                           {"kernel_params", Floats{0.5f, 0.25f, 3}},
                                           {"classlabels_strings", Strings{"no", "yes"}}};
  const Tensor x =
      floats({2, 2}, {1.6222491264343262f, -0.4133254885673523f, 0.7377685308456421f, 0.8244543671607971f});
  expectOutputs(nodeOf("SVMClassifier", x, machine, 2),
                {list({"no", "yes"}), floats({2, 2}, {-0.35930327f, 0.35930327f, 0.62274504f, -0.62274504f})});
  machine["post_transform"] = "SOFTMAX";
  expectOutputs(nodeOf("SVMClassifier", x, machine, 2),
                {list({"no", "yes"}), floats({2, 2}, {0.64069673f, 0.35930327f, 1.62274504f, -0.62274504f})});
}

// Refusals

TEST(Learning, RefusesListsThatDoNotFit) {
  const std::map<std::string, Attribute> weights{{"coefficients", Floats{1, 2, 3}}};
  const auto refusalOf = [](const char* type, const Tensor& x, std::map<std::string, Attribute> attributes) {
    const auto model = import(nodeOf(type, x, std::move(attributes)));
    return model ? "none" : model.error().message();
  };
  const auto refuses = [](const std::string& message, const std::string& part) {
    EXPECT_NE(message.find(part), std::string::npos) << message;
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
  };
  refuses(refusalOf("LinearClassifier", kIris, weights),
          "LinearClassifier: expected one of classlabels_ints and classlabels_strings, got none");
  refuses(refusalOf("SVMClassifier", kIris,
                    {{"classlabels_ints", Integers{1, 2}}, {"classlabels_strings", Strings{"a", "b"}}}),
          "SVMClassifier: expected one of classlabels_ints and classlabels_strings, got both");
  refuses(refusalOf("LinearClassifier", kIris,
                    {{"coefficients", Floats{1, 2, 3, 4}}, {"classlabels_strings", Strings{"a", "b", "c"}}}),
          "LinearClassifier: 4 coefficients must divide into 3 classes");
  refuses(refusalOf("ZipMap", kIris, {}),
          "ZipMap: expected one of classlabels_int64s and classlabels_strings, got none");
  refuses(refusalOf("CategoryMapper", kPets, {{"cats_strings", Strings{"a"}}}),
          "CategoryMapper: cats_strings and cats_int64s must have as many values, got 1 and 0");
  refuses(refusalOf("LabelEncoder", kPets, {}), "LabelEncoder: expected strings in classes_strings");
  refuses(refusalOf("OneHotEncoder", kPets, {{"cats_int64s", Integers{1}}}),
          "OneHotEncoder: input 0 must hold numbers, as cats_int64s does, got strings");
  refuses(errorOf(nodeOf("OneHotEncoder", kIris, {{"cats_strings", Strings{"a"}}})),
          "FindStrings: input 0 'x' must be one of string, got f32");
  refuses(refusalOf("OneHotEncoder", kIris, {{"cats_strings", Strings{"a"}}, {"cats_int64s", Integers{1}}}),
          "OneHotEncoder: expected one of cats_int64s and cats_strings, got both");
  refuses(refusalOf("Imputer", kPets, {{"imputed_value_floats", Floats{1}}}),
          "Imputer: input 0 must hold numbers, as its imputed value does, got strings");
}

TEST(Learning, RefusesMaps) {
  onnx::ModelProto proto = *protoOf(nodeOf("DictVectorizer", kPets, {{"string_vocabulary", Strings{"a"}}}));
  onnx::TypeProto& type = *proto.mutable_graph()->mutable_input(0)->mutable_type();
  type.mutable_map_type()->set_key_type(onnx::TensorProto::STRING);
  EXPECT_EQ(importProto(proto).error().message(), "ONNX graph input 'x': its type must be a tensor, found map");
  declareMaps(*proto.mutable_graph()->mutable_input(0), onnx::TensorProto::STRING);
  EXPECT_EQ(importProto(proto).error().message(),
            "ONNX graph input 'x': its type must be a tensor, found a sequence of maps");
  const Strings two{"a", "b"};
  const std::string error = errorOf(nodeOf("ZipMap", kIris, {{"classlabels_strings", two}}));
  EXPECT_NE(error.find("Reshape"), std::string::npos) << error;
}

}  // namespace
}  // namespace opkit::harness::learning
