// The rules of ai.onnx.ml that make networks of other operators: what they compute, on every backend.
#include "ops/features/onnx_ml_node.h"

namespace opkit::ops::features {
namespace {

const TensorDesc kTable{DType::Float32, {2, 3}};
const std::vector<float> kValues{1, -2, 4, 0, 0, 0};

TEST(Features, ArrayFeatureExtractorTakesColumns) {
  Node node("ArrayFeatureExtractor", {kTable, {DType::Int64, {1, 2}}});
  expectOutput(node, {floats({2, 3}, kValues), tensor<int64_t>(DType::Int64, {1, 2}, {2, 0})}, {2, 2}, {4, 1, 0, 0});
  Node list("ArrayFeatureExtractor", {{DType::Float32, {3}}, {DType::Int64, {2, 1}}});
  expectOutput(list, {floats({3}, {7, 8, 9}), tensor<int64_t>(DType::Int64, {2, 1}, {2, 0})}, {1, 2}, {9, 7});
}

TEST(Features, BinarizerComparesIntegersWithTheThresholdItself) {
  for (const auto& [threshold, expected] : std::map<float, std::vector<double>>{
           {-0.5f, {1, 0, 1}}, {0.f, {0, 0, 1}}, {0.5f, {0, 0, 1}}, {-1.f, {1, 0, 1}}, {1e30f, {0, 0, 0}}}) {
    Node node("Binarizer", {{DType::Int64, {3}}});
    node.number["threshold"] = threshold;
    expectOutput(node, {tensor<int64_t>(DType::Int64, {3}, {0, -1, 7})}, {3}, expected);
  }
}

TEST(Features, FeatureVectorizerJoinsRowsAsFloats) {
  Node node("FeatureVectorizer", {{DType::Int32, {2, 1}}, kTable});
  node.integers["inputdimensions"] = {1, 3};
  expectOutput(node, {tensor<int32_t>(DType::Int32, {2, 1}, {7, 9}), floats({2, 3}, kValues)}, {2, 4},
               {7, 1, -2, 4, 9, 0, 0, 0});
  for (const int64_t size : {2, 6}) {
    Node rows("FeatureVectorizer", {kTable});
    rows.integers["inputdimensions"] = {size};
    expectRefusedRun(rows, {floats({2, 3}, kValues)});
  }
  Node wrong("FeatureVectorizer", {kTable});
  EXPECT_EQ(wrong.import().message(), "FeatureVectorizer: inputdimensions must have 1 values, got 0");
}

TEST(Features, ImputerReplacesAValueOrNaN) {
  Node zeros("Imputer", {kTable});
  zeros.numbers["imputed_value_floats"] = {5, 6, 7};
  expectOutput(zeros, {floats({2, 3}, kValues)}, {2, 3}, {1, -2, 4, 5, 6, 7});
  Node missing("Imputer", {kTable});
  missing.numbers["imputed_value_floats"] = {5};
  missing.number["replaced_value_float"] = NAN;
  expectOutput(missing, {floats({2, 3}, {1, NAN, 3, NAN, 0, 6})}, {2, 3}, {1, 5, 3, 5, 0, 6});
  Node whole("Imputer", {{DType::Int64, {3}}});
  whole.integers["imputed_value_int64s"] = {9};
  whole.integer["replaced_value_int64"] = -1;
  expectOutput(whole, {tensor<int64_t>(DType::Int64, {3}, {-1, 1, 0})}, {3}, {9, 1, 0});
  Node neither("Imputer", {kTable});
  EXPECT_EQ(neither.import().message(), "Imputer: expected one of imputed_value_floats and imputed_value_int64s");
}

TEST(Features, LinearRegressorHasATargetPerRowOfCoefficients) {
  Node node("LinearRegressor", {kTable});
  node.numbers["coefficients"] = {1, 2, 3, 0, 1, 0};
  node.numbers["intercepts"] = {10, 20};
  node.integer["targets"] = 2;
  expectOutput(node, {floats({2, 3}, kValues)}, {2, 2}, {19, 18, 10, 20});
  Node logistic("LinearRegressor", {{DType::Float32, {3}}});
  logistic.numbers["coefficients"] = {1, 1, 0};
  logistic.text["post_transform"] = "LOGISTIC";
  expectOutput(logistic, {floats({3}, {1, -1, 4})}, {1, 1}, {0.5});
  Node probit("LinearRegressor", {kTable});
  probit.numbers["coefficients"] = {0, 0.1f, 0};
  probit.numbers["intercepts"] = {0.55f};
  probit.text["post_transform"] = "PROBIT";
  const std::vector<double> quantiles{-0.3853205,
                                      0.1256613};  // of 0.35 and 0.55, from a table of the normal distribution
  expectOutputs(probit, {floats({2, 3}, kValues)}, {{{2, 1}, quantiles, 5e-4}});
  Node uneven("LinearRegressor", {kTable});
  uneven.numbers["coefficients"] = {1, 1, 0};
  uneven.integer["targets"] = 2;
  EXPECT_EQ(uneven.import().message(), "LinearRegressor: 3 coefficients must divide into 2 targets");
}

TEST(Features, NormalizerLeavesRowsOfNormZero) {
  const std::map<std::string, std::vector<double>> rows{
      {"MAX", {0.25, -0.5, 1, 0, 0, 0}},
      {"L1", {1.0 / 7, -2.0 / 7, 4.0 / 7, 0, 0, 0}},
      {"L2", {1 / std::sqrt(21), -2 / std::sqrt(21), 4 / std::sqrt(21), 0, 0, 0}}};
  for (const auto& [norm, expected] : rows) {
    Node node("Normalizer", {kTable});
    node.text["norm"] = norm;
    expectOutput(node, {floats({2, 3}, kValues)}, {2, 3}, expected);
  }
}

TEST(Features, AListOfValuesDoesNotWidenTheInput) {
  const TensorDesc column{DType::Float32, {2, 1}};
  Node offset("Scaler", {column}), scale("Scaler", {column}), reals("Imputer", {column});
  offset.numbers["offset"] = {1, 2, 3};
  scale.numbers["scale"] = {1, 2, 3};
  reals.numbers["imputed_value_floats"] = {1, 2, 3};
  for (Node* node : {&offset, &scale, &reals}) expectRefusedRun(*node, {floats({2, 1}, {0, 5})});
  Node whole("Imputer", {{DType::Int64, {2, 1}}});
  whole.integers["imputed_value_int64s"] = {1, 2, 3};
  expectRefusedRun(whole, {tensor<int64_t>(DType::Int64, {2, 1}, {0, 5})});
}

TEST(Features, ScalerOffsetsFirst) {
  Node node("Scaler", {{DType::Int32, {2, 3}}});
  node.numbers["offset"] = {1, 2, 3};
  node.numbers["scale"] = {2};
  expectOutput(node, {tensor<int32_t>(DType::Int32, {2, 3}, {1, 2, 3, 4, 5, 6})}, {2, 3}, {0, 0, 0, 6, 6, 6});
}

}  // namespace
}  // namespace opkit::ops::features
