// LinearClassifier, SVMRegressor, SVMClassifier, OneHotEncoder: expected values by plain loops or by hand.
#include "ops/features/onnx_ml_node.h"

namespace opkit::ops::features {
namespace {

const TensorDesc kMatrix{DType::Float32, {3, 2}};
const Floats kRows{1, -2, 0.5, 0.25, -1, 3};
constexpr size_t kRowCount = 3, kFeatures = 2;

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

std::vector<double> softmax(const std::vector<double>& row) {
  double sum = 0;
  std::vector<double> result;
  for (const double x : row) sum += std::exp(x);
  for (const double x : row) result.push_back(std::exp(x) / sum);
  return result;
}

Node linear(const std::string& transform) {
  Node node("LinearClassifier", {kMatrix});
  node.integers["classlabels_ints"] = {10, 20, 30};
  node.numbers["coefficients"] = {1, 0, 0, 1, -1, -1};
  node.numbers["intercepts"] = {0.5, 0, 1};
  if (!transform.empty()) node.text["post_transform"] = transform;
  return node;
}

TEST(LinearClassifier, HasTheLabelOfTheLargestScore) {
  Node node = linear("");
  expectOutputs(node, {floats({3, 2}, kRows)},
                {{{3}, {30, 10, 20}}, {{3, 3}, {1.5, -2, 2, 1, 0.25, 0.25, -0.5, 3, -1}}});
}

TEST(LinearClassifier, TransformsScores) {
  const std::vector<std::vector<double>> scores{{1.5, -2, 2}, {1, 0.25, 0.25}, {-0.5, 3, -1}};
  std::vector<double> shares, logistic;
  for (const auto& row : scores) {
    for (const double x : softmax(row)) shares.push_back(x);
    for (const double x : row) logistic.push_back(sigmoid(x));
  }
  Node soft = linear("SOFTMAX"), each = linear("LOGISTIC");
  expectOutputs(soft, {floats({3, 2}, kRows)}, {{{3}, {30, 10, 20}}, {{3, 3}, shares}});
  expectOutputs(each, {floats({3, 2}, kRows)}, {{{3}, {30, 10, 20}}, {{3, 3}, logistic}});
}

TEST(LinearClassifier, SoftmaxZeroLeavesZerosOut) {
  Node node("LinearClassifier", {{DType::Float32, {2, 3}}});
  node.integers["classlabels_ints"] = {0, 1, 2};
  node.numbers["coefficients"] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
  node.text["post_transform"] = "SOFTMAX_ZERO";
  const std::vector<double> pair = softmax({1, 2});
  expectOutputs(node, {floats({2, 3}, {1, 0, 2, 0, 0, 0})}, {{{2}, {2, 0}}, {{2, 3}, {pair[0], 0, pair[1], 0, 0, 0}}});
}

TEST(LinearClassifier, TwoClassesMayShareARow) {
  Node node("LinearClassifier", {{DType::Int64, {2}}});
  node.integers["classlabels_ints"] = {-1, 1};
  node.numbers["coefficients"] = {1, 2};
  node.numbers["intercepts"] = {-4};
  node.text["post_transform"] = "LOGISTIC";
  expectOutputs(node, {tensor<int64_t>(DType::Int64, {2}, {1, 2})}, {{{1}, {1}}, {{1, 2}, {sigmoid(-1), sigmoid(1)}}});
}

/// As ONNX Runtime 1.30 does: 1 - s and s, and only LOGISTIC transforms.
TEST(LinearClassifier, ASharedRowIsAShare) {
  for (const char* transform : {"NONE", "SOFTMAX", "SOFTMAX_ZERO"}) {
    Node node("LinearClassifier", {kMatrix});
    node.integers["classlabels_ints"] = {-1, 1};
    node.numbers["coefficients"] = {1, 2};
    node.numbers["intercepts"] = {-1};
    node.text["post_transform"] = transform;
    expectOutputs(node, {floats({3, 2}, kRows)}, {{{3}, {-1, -1, 1}}, {{3, 2}, {5, -4, 1, 0, -3, 4}}});
  }
}

/// Three rows of two features are not two rows of three.
TEST(LinearClassifier, RowsHaveAsManyElementsAsCoefficients) {
  Node linear("LinearClassifier", {kMatrix});
  linear.integers["classlabels_ints"] = {10, 20};
  linear.numbers["coefficients"] = {1, 2, 3, 4, 5, 6};
  expectRefusedRun(linear, {floats({3, 2}, kRows)});
  Node regressor("LinearRegressor", {kMatrix});
  regressor.numbers["coefficients"] = {1, 2, 3};
  expectRefusedRun(regressor, {floats({3, 2}, kRows)});
  Node machine("SVMRegressor", {kMatrix});
  machine.numbers = {{"coefficients", {1, 2, 3}}, {"rho", {0}}};
  expectRefusedRun(machine, {floats({3, 2}, kRows)});
}

TEST(LinearClassifier, RefusesWhatDoesNotFit) {
  Node none("LinearClassifier", {kMatrix});
  EXPECT_EQ(refusalOf(none), "LinearClassifier: expected one of classlabels_ints and classlabels_strings, got none");
  Node probit("LinearClassifier", {kMatrix});
  probit.texts["classlabels_strings"] = {"a", "b"};
  probit.numbers = {{"coefficients", {1, 2}}, {"intercepts", {0}}};
  probit.text["post_transform"] = "PROBIT";
  EXPECT_EQ(refusalOf(probit), "LinearClassifier: post_transform must not be PROBIT if two classes share a score");
  Node uneven = linear("");
  uneven.numbers["coefficients"] = {1, 2};
  EXPECT_EQ(refusalOf(uneven), "LinearClassifier: 2 coefficients must divide into 3 classes");
  Node offsets = linear("");
  offsets.numbers["intercepts"] = {1, 2};
  EXPECT_EQ(refusalOf(offsets), "LinearClassifier: intercepts must be 3, got 2");
}

// Support vector machines

constexpr float kGamma = 0.5f, kCoef0 = 0.25f, kDegree = 3;
const Floats kVectors{1, 0, -1, 2, 0.5, 0.5, 2, -1};
constexpr size_t kVectorCount = 4;

double kernelValue(const std::string& type, size_t row, size_t vector) {
  double dot = 0, distance = 0;
  for (size_t f = 0; f < kFeatures; ++f) {
    const double x = kRows[row * kFeatures + f], v = kVectors[vector * kFeatures + f];
    dot += x * v;
    distance += (x - v) * (x - v);
  }
  if (type == "POLY") return std::pow(kGamma * dot + kCoef0, kDegree);
  if (type == "SIGMOID") return std::tanh(kGamma * dot + kCoef0);
  return type == "RBF" ? std::exp(-kGamma * distance) : dot;
}

void setVectors(Node& node, const std::string& type) {
  node.text["kernel_type"] = type;
  node.numbers["kernel_params"] = {kGamma, kCoef0, kDegree};
  node.numbers["support_vectors"] = kVectors;
}

const std::vector<std::string> kKernels{"LINEAR", "POLY", "RBF", "SIGMOID"};

TEST(SvmRegressor, SumsTheKernelValues) {
  const Floats coefficients{1, -0.5, 2, 0.25};
  for (const std::string& type : kKernels)
    for (const bool isOneClass : {false, true}) {
      Node node("SVMRegressor", {kMatrix});
      setVectors(node, type);
      node.numbers["coefficients"] = coefficients;
      node.numbers["rho"] = {-0.75};
      node.integer["n_supports"] = kVectorCount;
      node.integer["one_class"] = isOneClass ? 1 : 0;
      std::vector<double> expected;
      for (size_t row = 0; row < kRowCount; ++row) {
        double sum = -0.75;
        for (size_t v = 0; v < kVectorCount; ++v) sum += coefficients[v] * kernelValue(type, row, v);
        expected.push_back(isOneClass ? (sum > 0 ? 1 : -1) : sum);
      }
      expectOutputs(node, {floats({3, 2}, kRows)}, {{{3, 1}, expected, 1e-5}});
    }
}

TEST(SvmRegressor, IsLinearWithoutVectors) {
  Node node("SVMRegressor", {kMatrix});
  node.numbers["coefficients"] = {2, 3};
  node.numbers["rho"] = {1};
  expectOutput(node, {floats({3, 2}, kRows)}, {3, 1}, {-3, 2.75, 8});
  Node missing("SVMRegressor", {kMatrix});
  EXPECT_EQ(refusalOf(missing), "SVMRegressor: expected a value in rho");
  Node uneven("SVMRegressor", {kMatrix});
  setVectors(uneven, "RBF");
  uneven.numbers["rho"] = {0};
  uneven.numbers["coefficients"] = {1, 2, 3};
  uneven.integer["n_supports"] = 3;
  EXPECT_EQ(refusalOf(uneven), "SVMRegressor: 8 elements must divide into 3 support vectors");
  uneven.text["kernel_type"] = "COSINE";
  EXPECT_EQ(refusalOf(uneven), "SVMRegressor: kernel_type must be one of LINEAR, POLY, RBF, SIGMOID, got 'COSINE'");
}

/// A distance that is tiny beside the norms: |x|^2 + |v|^2 - 2 x v in f32 would lose it.
TEST(SvmRegressor, KeepsSmallDistancesOfLargeVectors) {
  Node node("SVMRegressor", {{DType::Float32, {1, 2}}});
  setVectors(node, "RBF");
  node.numbers["support_vectors"] = {3000, 4000};
  node.numbers["coefficients"] = {1};
  node.numbers["rho"] = {0};
  node.integer["n_supports"] = 1;
  expectOutput(node, {floats({1, 2}, {3000.5, 4000})}, {1, 1}, {std::exp(-0.5 * 0.25)});
}

struct Machine {
  std::vector<int64_t> perClass;
  std::vector<Floats> coefficients;  // [classes - 1][vectors]
  Floats rho;
};
const Machine kThree{{2, 1, 1}, {{1, -0.5, -2, 0.25}, {0.5, 1.5, -1, -0.75}}, {0.25, -0.5, 0.125}};
const Machine kTwo{{2, 2}, {{1, 0.5, -2, -0.25}}, {0.5}};

Node machineNode(const Machine& machine, const std::string& kernel) {
  Node node("SVMClassifier", {kMatrix});
  setVectors(node, kernel);
  for (size_t i = 0; i < machine.perClass.size(); ++i)
    node.integers["classlabels_ints"].push_back(static_cast<int64_t>(7 * i) - 3);
  for (const Floats& row : machine.coefficients)
    for (const float value : row) node.numbers["coefficients"].push_back(value);
  node.numbers["rho"] = machine.rho;
  node.integers["vectors_per_class"] = machine.perClass;
  return node;
}

/// The scores of all pairs of classes for a row.
std::vector<double> pairScores(const Machine& machine, const std::string& kernel, size_t row) {
  std::vector<size_t> starts{0};
  for (const int64_t count : machine.perClass) starts.push_back(starts.back() + static_cast<size_t>(count));
  std::vector<double> scores;
  for (size_t i = 0; i < machine.perClass.size(); ++i)
    for (size_t j = i + 1; j < machine.perClass.size(); ++j) {
      double sum = machine.rho[scores.size()];
      for (size_t v = starts[i]; v < starts[i + 1]; ++v)
        sum += machine.coefficients[j - 1][v] * kernelValue(kernel, row, v);
      for (size_t v = starts[j]; v < starts[j + 1]; ++v)
        sum += machine.coefficients[i][v] * kernelValue(kernel, row, v);
      scores.push_back(sum);
    }
  return scores;
}

int64_t labelOf(const std::vector<double>& scores, size_t classes) {
  std::vector<int> votes(classes);
  for (size_t i = 0, pair = 0; i < classes; ++i)
    for (size_t j = i + 1; j < classes; ++j, ++pair) ++votes[scores[pair] > 0 ? i : j];
  return 7 * (std::ranges::max_element(votes) - votes.begin()) - 3;
}

TEST(SvmClassifier, ComparesPairsOfClasses) {
  for (const std::string& kernel : kKernels) {
    std::vector<double> labels, scores;
    for (size_t row = 0; row < kRowCount; ++row) {
      const std::vector<double> pairs = pairScores(kThree, kernel, row);
      labels.push_back(static_cast<double>(labelOf(pairs, 3)));
      scores.insert(scores.end(), pairs.begin(), pairs.end());
    }
    Node node = machineNode(kThree, kernel);
    expectOutputs(node, {floats({3, 2}, kRows)}, {{{3}, labels}, {{3, 3}, scores, 1e-5}});
  }
}

TEST(SvmClassifier, TwoClassesHaveOppositeScores) {
  std::vector<double> labels, scores;
  for (size_t row = 0; row < kRowCount; ++row) {
    const double score = pairScores(kTwo, "RBF", row)[0];
    labels.push_back(score > 0 ? -3 : 4);
    scores.push_back(-score);
    scores.push_back(score);
  }
  Node node = machineNode(kTwo, "RBF");
  expectOutputs(node, {floats({3, 2}, kRows)}, {{{3}, labels}, {{3, 2}, scores, 1e-5}});
}

/// The probabilities at which no shift from one class to another lowers the sum of squares: found by small steps.
std::vector<double> minimise(const std::vector<std::vector<double>>& r) {
  const size_t n = r.size();
  const auto cost = [&](const std::vector<double>& p) {
    double sum = 0;
    for (size_t i = 0; i < n; ++i)
      for (size_t j = 0; j < n; ++j)
        if (i != j) sum += std::pow(r[j][i] * p[i] - r[i][j] * p[j], 2);
    return sum;
  };
  std::vector<double> p(n, 1.0 / static_cast<double>(n));
  for (double step = 0.25; step > 1e-9; step /= 2)
    for (bool improves = true; improves;) {
      improves = false;
      for (size_t i = 0; i < n; ++i)
        for (size_t j = 0; j < n; ++j) {
          std::vector<double> moved = p;
          moved[i] += step, moved[j] -= step;
          if (i == j || moved[j] < 0 || cost(moved) >= cost(p)) continue;
          p = moved, improves = true;
        }
    }
  return p;
}

TEST(SvmClassifier, GivesProbabilities) {
  for (const Machine& machine : {kThree, kTwo}) {
    const size_t classes = machine.perClass.size(), pairs = machine.rho.size();
    const Floats a{-1.5, -0.5, -2}, b{0.25, 0, -0.125};
    Node node = machineNode(machine, "RBF");
    node.numbers["prob_a"].assign(a.begin(), a.begin() + static_cast<ptrdiff_t>(pairs));
    node.numbers["prob_b"].assign(b.begin(), b.begin() + static_cast<ptrdiff_t>(pairs));
    std::vector<double> labels, shares;
    for (size_t row = 0; row < kRowCount; ++row) {
      const std::vector<double> scores = pairScores(machine, "RBF", row);
      std::vector<std::vector<double>> r(classes, std::vector<double>(classes));
      for (size_t i = 0, pair = 0; i < classes; ++i)
        for (size_t j = i + 1; j < classes; ++j, ++pair) {
          r[i][j] = sigmoid(-(a[pair] * scores[pair] + b[pair]));
          r[j][i] = 1 - r[i][j];
        }
      labels.push_back(static_cast<double>(labelOf(scores, classes)));
      for (const double share : minimise(r)) shares.push_back(share);
    }
    expectOutputs(node, {floats({3, 2}, kRows)}, {{{3}, labels}, {{3, static_cast<int64_t>(classes)}, shares, 1e-5}});
  }
}

TEST(SvmClassifier, IsLinearWithoutVectors) {
  Node node("SVMClassifier", {kMatrix});
  node.integers["classlabels_ints"] = {5, 6};
  node.numbers["coefficients"] = {1, 0, 0, 1};
  node.numbers["rho"] = {0.5};
  expectOutputs(node, {floats({3, 2}, kRows)}, {{{3}, {5, 5, 6}}, {{3, 2}, {1.5, -1.5, 1, 0.75, -0.5, 3.5}}});
}

TEST(SvmClassifier, RefusesListsThatDoNotFit) {
  Node rho = machineNode(kThree, "RBF");
  rho.numbers["rho"] = {1, 2};
  EXPECT_EQ(refusalOf(rho), "SVMClassifier: rho must have 3 values, got 2");
  Node coefficients = machineNode(kThree, "RBF");
  coefficients.numbers["coefficients"].pop_back();
  EXPECT_EQ(refusalOf(coefficients), "SVMClassifier: coefficients must have 8 values, got 7");
  Node perClass = machineNode(kThree, "RBF");
  perClass.integers["vectors_per_class"] = {2, 2};
  EXPECT_EQ(refusalOf(perClass), "SVMClassifier: vectors_per_class must have 3 values, got 2");
  Node shares = machineNode(kThree, "RBF");
  shares.numbers["prob_a"] = {1};
  EXPECT_EQ(refusalOf(shares), "SVMClassifier: prob_a and prob_b must have 3 values, got 1 and 0");
  Node parameters = machineNode(kThree, "POLY");
  parameters.numbers["kernel_params"] = {1};
  EXPECT_EQ(refusalOf(parameters), "SVMClassifier: kernel_params must be gamma, coef0 and degree, got 1 values");
}

TEST(OneHotEncoder, MarksTheCategory) {
  Node node("OneHotEncoder", {{DType::Float32, {2, 2}}});
  node.integers["cats_int64s"] = {3, -1, 8};
  expectOutput(node, {floats({2, 2}, {3, 8.75, -1.5, 4})}, {2, 2, 3}, {1, 0, 0, 0, 0, 1, 0, 1, 0, 0, 0, 0});
}

TEST(OneHotEncoder, FailsForUnknownCategoriesIfAsked) {
  Node node("OneHotEncoder", {{DType::Int64, {2}}});
  node.integers["cats_int64s"] = {3, 8};
  node.integer["zeros"] = 0;
  expectOutput(node, {tensor<int64_t>(DType::Int64, {2}, {8, 3})}, {2, 2}, {0, 1, 1, 0});
  expectRefusedRun(node, {tensor<int64_t>(DType::Int64, {2}, {8, 4})});
}

}  // namespace
}  // namespace opkit::ops::features
