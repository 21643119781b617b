// The rules of the tree ensembles: forests in the forms of ONNX against walks by hand.
#include "ops/tree_ensemble/tree_ensemble.h"
#include "ops/features/onnx_ml_node.h"
#include "ops/tree_ensemble/forest.h"

namespace opkit::ops::tree_ensemble {
namespace {

using features::expectOutput;
using features::expectOutputs;
using features::floats;
using features::Node;
using features::refusalOf;
using features::tensor;

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

// TreeEnsemble-5: the examples of the ONNX text

Node singleTree(DType dtype) {
  Node node("TreeEnsemble", {{dtype, {3, 2}}});
  node.version = 5;
  node.integer["n_targets"] = 2;
  node.integers = {{"tree_roots", {0}},
                   {"nodes_featureids", {0, 0, 0}},
                   {"nodes_truenodeids", {1, 0, 1}},
                   {"nodes_trueleafs", {0, 1, 1}},
                   {"nodes_falsenodeids", {2, 2, 3}},
                   {"nodes_falseleafs", {0, 1, 1}},
                   {"leaf_targetids", {0, 1, 0, 1}}};
  node.tensors["nodes_modes"] = tensor<uint8_t>(DType::UInt8, {3}, {0, 0, 0});
  node.tensors["nodes_splits"] = tensor<double>(DType::Float64, {3}, {3.14, 1.2, 4.2});
  node.tensors["leaf_weights"] = tensor<double>(DType::Float64, {4}, {5.23, 12.12, -12.23, 7.21});
  return node;
}
const std::vector<double> kSingleRows{1.2, 3.4, -0.12, 1.66, 4.14, 1.77};

TEST(TreeEnsemble, SingleTree) {
  Node node = singleTree(DType::Float64);
  expectOutput(node, {tensor<double>(DType::Float64, {3, 2}, kSingleRows)}, {3, 2}, {5.23, 0, 5.23, 0, 0, 12.12});
}

TEST(TreeEnsemble, DoublesStayDoubles) {
  Node node = singleTree(DType::Float64);
  node.tensors["nodes_splits"] = tensor<double>(DType::Float64, {3}, {3.14, 1 + 0x1p-40, 4.2});
  node.tensors["leaf_weights"] = tensor<double>(DType::Float64, {4}, {1 + 0x1p-40, 12, -12, 7});
  const Tensor x = tensor<double>(DType::Float64, {3, 2}, {1 + 0x1p-40, 0, 1 + 0x1p-39, 0, 1, 0});
  expectOutputs(node, {x}, {{{3, 2}, {1 + 0x1p-40, 0, -12, 0, 1 + 0x1p-40, 0}, 0}});
}

TEST(TreeEnsemble, HalvesComputeInFloats) {
  Node node = singleTree(DType::Float16);
  node.tensors["nodes_splits"] = floats({3}, {3.14f, 1.25f, 4.25f});
  node.tensors["leaf_weights"] = floats({4}, {5.25f, 12, -12.25f, 7});
  expectOutput(node, {floats({3, 2}, {1.25f, 3, -0.5f, 1, 4.125f, 1})}, {3, 2}, {5.25, 0, 5.25, 0, 0, 12});
}

TEST(TreeEnsemble, SetMembership) {
  Node node("TreeEnsemble", {{DType::Float32, {6, 1}}});
  node.version = 5;
  node.integer["n_targets"] = 4;
  node.integers = {{"tree_roots", {0}},
                   {"nodes_featureids", {0, 0, 0}},
                   {"nodes_truenodeids", {1, 0, 1}},
                   {"nodes_trueleafs", {0, 1, 1}},
                   {"nodes_falsenodeids", {2, 2, 3}},
                   {"nodes_falseleafs", {1, 0, 1}},
                   {"leaf_targetids", {0, 1, 2, 3}}};
  node.tensors["nodes_modes"] = tensor<uint8_t>(DType::UInt8, {3}, {0, 6, 6});
  node.tensors["nodes_splits"] = floats({3}, {11, 232344, NAN});
  node.tensors["membership_values"] = floats({8}, {1.2f, 3.7f, 8, 9, NAN, 12, 7, NAN});
  node.tensors["leaf_weights"] = floats({4}, {1, 10, 1000, 100});
  const Tensor x = floats({6, 1}, {1.2f, 3.4f, -0.12f, NAN, 12, 7});
  const std::vector<double> expected{1, 0, 0, 0, 0, 0, 0, 100, 0, 0, 0, 100, 0, 0, 1000, 0, 0, 0, 1000, 0, 0, 10, 0, 0};
  expectOutput(node, {x}, {6, 4}, expected);
}

TEST(TreeEnsemble, ValuesThatAreMissingLeaveASetOrEnterIt) {
  for (const bool enters : {false, true}) {
    Node node("TreeEnsemble", {{DType::Float32, {3, 1}}});
    node.version = 5;
    node.integer["n_targets"] = 1;
    node.integers = {{"tree_roots", {0}},       {"nodes_featureids", {0}},   {"nodes_truenodeids", {1}},
                     {"nodes_trueleafs", {1}},  {"nodes_falsenodeids", {0}}, {"nodes_falseleafs", {1}},
                     {"leaf_targetids", {0, 0}}};
    if (enters) node.integers["nodes_missing_value_tracks_true"] = {1};
    node.tensors["nodes_modes"] = tensor<uint8_t>(DType::UInt8, {1}, {6});
    node.tensors["nodes_splits"] = floats({1}, {0});
    node.tensors["membership_values"] = floats({3}, {2, 5, NAN});
    node.tensors["leaf_weights"] = floats({2}, {10, 20});  // outside the set, within it
    expectOutput(node, {floats({3, 1}, {5, 3, NAN})}, {3, 1}, {20, 10, enters ? 20. : 10.});
  }
}

TEST(TreeEnsemble, RefusesWhatDoesNotFit) {
  Node modes = singleTree(DType::Float64);
  modes.tensors["nodes_modes"] = tensor<uint8_t>(DType::UInt8, {3}, {0, 9, 0});
  EXPECT_EQ(refusalOf(modes),
            "TreeEnsemble: the mode of a node must be one of BRANCH_LEQ, BRANCH_LT, BRANCH_GTE, BRANCH_GT, BRANCH_EQ, "
            "BRANCH_NEQ, got '9'");
  Node sets = singleTree(DType::Float64);
  sets.tensors["nodes_modes"] = tensor<uint8_t>(DType::UInt8, {3}, {0, 6, 0});
  EXPECT_EQ(refusalOf(sets), "TreeEnsemble: the sets of membership_values must have 1 values, got 0");
  Node cycle = singleTree(DType::Float64);
  cycle.integers["nodes_trueleafs"] = {0, 0, 1};
  EXPECT_EQ(refusalOf(cycle), "TreeEnsemble: the nodes of a tree form a cycle");
  Node nowhere = singleTree(DType::Float64);
  nowhere.integers["nodes_falsenodeids"] = {2, 2, 4};
  EXPECT_EQ(refusalOf(nowhere), "TreeEnsemble: a branch leads to leaf 4, which does not exist");
  Node target = singleTree(DType::Float64);
  target.integers["leaf_targetids"] = {0, 1, 2, 1};
  EXPECT_EQ(refusalOf(target), "TreeEnsemble: leaf_targetids must be in [0, 2), got 2");
  Node aggregate = singleTree(DType::Float64);
  aggregate.integer["aggregate_function"] = 4;
  EXPECT_EQ(refusalOf(aggregate), "TreeEnsemble: aggregate_function must be in [0, 3], got 4");
}

// The operators with named nodes

const TensorDesc kColumn{DType::Float32, {4, 1}};
const std::vector<float> kBesideTwo{1, 2, 3, NAN};

/// Trees of one test each: feature 0 against 2, `votes` for the first and the second branch of each.
struct Stumps {
  std::string mode;
  std::vector<int64_t> tracks;
  std::vector<std::vector<std::pair<int64_t, float>>> votes;  // of each leaf: two leaves per tree
};

Node stumps(const std::string& type, const std::string& prefix, const Stumps& forest) {
  Node node(type, {kColumn});
  const auto trees = static_cast<int64_t>(forest.votes.size() / 2);
  for (int64_t tree = 0; tree < trees; ++tree)
    for (const int64_t id : {0, 1, 2}) {
      node.texts["nodes_modes"].push_back(id == 0 ? forest.mode : "LEAF");
      node.integers["nodes_treeids"].push_back(10 * tree);
      node.integers["nodes_nodeids"].push_back(id);
      node.integers["nodes_featureids"].push_back(0);
      node.integers["nodes_truenodeids"].push_back(id == 0 ? 1 : 0);
      node.integers["nodes_falsenodeids"].push_back(id == 0 ? 2 : 0);
      node.numbers["nodes_values"].push_back(id == 0 ? 2 : 0);
      if (!forest.tracks.empty())
        node.integers["nodes_missing_value_tracks_true"].push_back(forest.tracks[static_cast<size_t>(tree)]);
      for (const auto& [target, weight] :
           id == 0 ? std::vector<std::pair<int64_t, float>>{} : forest.votes[static_cast<size_t>(2 * tree + id - 1)]) {
        node.integers[prefix + "_treeids"].push_back(10 * tree);
        node.integers[prefix + "_nodeids"].push_back(id);
        node.integers[prefix + "_ids"].push_back(target);
        node.numbers[prefix + "_weights"].push_back(weight);
      }
    }
  return node;
}

TEST(TreeEnsembleRegressor, HasEveryMode) {
  const std::map<std::string, std::vector<double>> modes{{"BRANCH_LEQ", {1, 1, 2}}, {"BRANCH_LT", {1, 2, 2}},
                                                         {"BRANCH_GTE", {2, 1, 1}}, {"BRANCH_GT", {2, 2, 1}},
                                                         {"BRANCH_EQ", {2, 1, 2}},  {"BRANCH_NEQ", {1, 2, 1}}};
  for (const auto& [mode, values] : modes)
    for (const int64_t tracks : {-1, 0, 1}) {
      std::vector<double> expected = values;
      expected.push_back(tracks == 1 ? 1 : 2);
      const Stumps forest{mode, tracks < 0 ? std::vector<int64_t>{} : std::vector{tracks}, {{{0, 1}}, {{0, 2}}}};
      Node node = stumps("TreeEnsembleRegressor", "target", forest);
      expectOutput(node, {floats({4, 1}, kBesideTwo)}, {4, 1}, expected);
    }
}

const Stumps kRegression{"BRANCH_LEQ", {}, {{{0, 1}, {1, -4}}, {{0, 2}}, {{0, 8}}, {{0, 16}, {1, 3}}}};

TEST(TreeEnsembleRegressor, AggregatesAndAddsBaseValues) {
  const std::map<std::string, std::vector<double>> aggregates{
      {"SUM", {9, -4, 18, 3}}, {"AVERAGE", {4.5, -2, 9, 1.5}}, {"MIN", {1, -4, 2, 3}}, {"MAX", {8, -4, 16, 3}}};
  for (const auto& [aggregate, rows] : aggregates)
    for (const std::vector<float>& base : {std::vector<float>{}, {0.5}, {100, -10}}) {
      Node node = stumps("TreeEnsembleRegressor", "target", kRegression);
      node.integer["n_targets"] = 2;
      node.text["aggregate_function"] = aggregate;
      node.numbers["base_values"] = base;
      std::vector<double> expected;
      for (size_t i = 0; i < 8; ++i) {  // rows 0 and 1 take the first branches
        const double added = base.empty() ? 0 : double{base[base.size() == 1 ? 0 : i % 2]};
        expected.push_back(rows[i < 4 ? i % 2 : 2 + i % 2] + added);
      }
      expectOutput(node, {floats({4, 1}, kBesideTwo)}, {4, 2}, expected);
    }
}

TEST(TreeEnsembleRegressor, ComparesInDoubleIfAttributesAreTensors) {
  const Stumps forest{"BRANCH_LEQ", {}, {{{0, 1}}, {{0, 2}}}};
  Node node = stumps("TreeEnsembleRegressor", "target", forest);
  node.model = {};
  Node wide("TreeEnsembleRegressor", {{DType::Float64, {2, 1}}});
  wide.texts = node.texts, wide.integers = node.integers;
  const double split = 2 + 1e-12;
  wide.tensors["nodes_values_as_tensor"] = tensor<double>(DType::Float64, {3}, {split, 0, 0});
  wide.tensors["target_weights_as_tensor"] = tensor<double>(DType::Float64, {2}, {0.25, 0.5});
  expectOutput(wide, {tensor<double>(DType::Float64, {2, 1}, {split, 2 + 2e-12})}, {2, 1}, {0.25, 0.5});
}

TEST(TreeEnsembleRegressor, RefusesWhatDoesNotFit) {
  Node twice = stumps("TreeEnsembleRegressor", "target", kRegression);
  twice.integers["nodes_nodeids"][1] = 0;
  EXPECT_EQ(refusalOf(twice), "TreeEnsembleRegressor: node 0 of tree 0 is listed twice");
  Node missing = stumps("TreeEnsembleRegressor", "target", kRegression);
  missing.integers["nodes_truenodeids"][0] = 7;
  EXPECT_EQ(refusalOf(missing), "TreeEnsembleRegressor: a branch of tree 0 leads to node 7, which does not exist");
  Node vote = stumps("TreeEnsembleRegressor", "target", kRegression);
  vote.integer["n_targets"] = 2;
  vote.integers["target_nodeids"][0] = 0;
  EXPECT_EQ(refusalOf(vote),
            "TreeEnsembleRegressor: target_treeids and target_nodeids must name leaves, got node 0 of tree 0");
  Node base = stumps("TreeEnsembleRegressor", "target", kRegression);
  base.integer["n_targets"] = 2;
  base.numbers["base_values"] = {1, 2, 3};
  EXPECT_EQ(refusalOf(base), "TreeEnsembleRegressor: base_values must have 2 values, got 3");
  Node length = stumps("TreeEnsembleRegressor", "target", kRegression);
  length.numbers["nodes_values"].pop_back();
  EXPECT_EQ(refusalOf(length), "TreeEnsembleRegressor: nodes_values must have 6 values, got 5");
}

TEST(TreeEnsembleClassifier, LabelsTheLargestSum) {
  const Stumps forest{"BRANCH_LT", {}, {{{0, 0.25f}, {1, 0.75f}}, {{2, 1}}, {{1, 0.5f}, {2, 0.5f}}, {{0, 1}}}};
  Node node = stumps("TreeEnsembleClassifier", "class", forest);
  node.integers["classlabels_int64s"] = {10, 20, 30};
  node.numbers["base_values"] = {0, 0, 0.125f};
  expectOutputs(node, {floats({4, 1}, kBesideTwo)},
                {{{4}, {20, 30, 30, 30}}, {{4, 3}, {0.25, 1.25, 0.625, 1, 0, 1.125, 1, 0, 1.125, 1, 0, 1.125}}});
}

TEST(TreeEnsembleClassifier, TwoClassesMayShareVotes) {
  const Stumps shares{"BRANCH_LEQ", {}, {{{0, 0.125f}}, {{0, 0.75f}}}};
  const std::vector<double> sums{0.125, 0.125, 0.75, 0.75};
  const Stumps margins{"BRANCH_LEQ", {}, {{{0, -0.5f}}, {{0, 2}}}};
  const std::vector<double> marginSums{-0.5, -0.5, 2, 2};
  for (const auto& [forest, values, transform, isShare] : {std::tuple{shares, sums, "NONE", true},
                                                           {shares, sums, "SOFTMAX", true},
                                                           {shares, sums, "LOGISTIC", true},
                                                           {margins, marginSums, "NONE", false},
                                                           {margins, marginSums, "SOFTMAX", false},
                                                           {margins, marginSums, "LOGISTIC", false}}) {
    Node node = stumps("TreeEnsembleClassifier", "class", forest);
    node.integers["classlabels_int64s"] = {-7, 7};
    node.text["post_transform"] = transform;
    std::vector<double> labels, scores;
    for (const double value : values) {
      labels.push_back(value > (isShare ? 0.5 : 0) ? 7 : -7);
      const bool isLogistic = std::string(transform) == "LOGISTIC";
      for (const double score : {isShare && !isLogistic ? 1 - value : -value, value})
        scores.push_back(isLogistic ? sigmoid(score) : score);
    }
    expectOutputs(node, {floats({4, 1}, kBesideTwo)}, {{{4}, labels}, {{4, 2}, scores}});
  }
}

/// As ONNX Runtime 1.30 does: the first class keeps its sum, 0.
TEST(TreeEnsembleClassifier, TheSecondOfTwoClassesMayHaveAllVotes) {
  for (const auto& [low, high] : {std::pair{0.125f, 0.75f}, {-0.25f, 0.25f}}) {
    Node node = stumps("TreeEnsembleClassifier", "class", {"BRANCH_LEQ", {}, {{{1, low}}, {{1, high}}}});
    node.integers["classlabels_int64s"] = {-7, 7};
    expectOutputs(node, {floats({4, 1}, kBesideTwo)},
                  {{{4}, {-7, -7, 7, 7}}, {{4, 2}, {0, low, 0, low, 0, high, 0, high}}});
  }
}

TEST(TreeEnsembleClassifier, RefusesTwoKindsOfLabels) {
  Node node = stumps("TreeEnsembleClassifier", "class", {"BRANCH_LEQ", {}, {{{0, 1}}, {{1, 2}}}});
  node.texts["classlabels_strings"] = {"a", "b"};
  node.integers["classlabels_int64s"] = {1, 2};
  EXPECT_EQ(refusalOf(node),
            "TreeEnsembleClassifier: expected one of classlabels_int64s and classlabels_strings, got both");
}

// The compact form

TEST(Forest, NumbersParentsFirstAlthoughBranchesMeet) {
  // Nodes 0 -> {2, 1}, 1 -> {2, leaf 1}, 2 -> leaves; the roots are node 0, leaf 1, and node 1 alone.
  const Branch meeting{false, 2}, second{false, 1}, left{true, 0}, right{true, 1};
  const Forest forest{{{0, kLess, 1, meeting, second}, {1, kEqual, 2, meeting, right}, {2, kGreater, 3, left, right}},
                      {{{0, 1.0}}, {{1, 2.0}, {0, 3.0}}},
                      {{false, 0}, {true, 1}, {false, 1}}};
  const Result<PackedForest> packed = pack(forest, "Test");
  ASSERT_TRUE(packed) << packed.error().toString();
  const size_t nodes = packed->tests.size();
  ASSERT_EQ(nodes, 5u);  // three roots and two more: node 1 below node 0 and node 2
  for (size_t i = 0; i < packed->children.size(); ++i) EXPECT_GT(packed->children[i] + 3, static_cast<int32_t>(i / 2));
  EXPECT_EQ(packed->tests[1], 0);  // the root that is a leaf
  EXPECT_EQ(packed->children[2], packed->children[3]);
  EXPECT_EQ(packed->children[2] + 3 - 5, 1);
  EXPECT_EQ(packed->votes, 2);
  EXPECT_EQ(packed->targets, (std::vector<int32_t>{0, -1, 1, 0}));
  EXPECT_EQ(depthOf(packed->children, 3), 3);
}

TEST(Forest, ASplitThatIsNanEqualsNothing) {
  for (const char* mode : {"LEQ", "LT", "GTE", "GT", "EQ"}) {
    double split = NAN;
    EXPECT_EQ(*outcomesOf("Test", mode, true, split), kMissing) << mode;
    EXPECT_EQ(split, 0);
  }
  double split = NAN;
  EXPECT_EQ(*outcomesOf("Test", "NEQ", false, split), kLess | kEqual | kGreater);
}

}  // namespace
}  // namespace opkit::ops::tree_ensemble
