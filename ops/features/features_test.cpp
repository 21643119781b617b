// The rules of ai.onnx.ml that make networks of other operators: what they compute, on every backend.
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "engine/import/onnx/onnx_rules.h"
#include "engine/runtime/session.h"
#include "ops/builtin_ops.h"

namespace opkit::ops::features {
namespace {

using Floats = std::vector<float>;
using Integers = std::vector<int64_t>;

/// A node of ai.onnx.ml with one output, and the network that its rule makes.
class Node final : public OnnxNode {
 public:
  Node(std::string type, const std::vector<TensorDesc>& inputs) : type_(std::move(type)) {
    for (const TensorDesc& input : inputs) inputs_.push_back(model.addInput(fmt::format("x{}", inputs_.size()), input));
  }

  Status import() {
    const OnnxRules::Entry* entry = builtinOnnxRules().find("ai.onnx.ml::" + type_, 1);
    return entry ? entry->rule(*this) : Status::internal("no rule for {}", type_);
  }

  const std::string& opType() const override { return type_; }
  int opset() const override { return 1; }
  const std::string& name() const override { return type_; }
  bool hasAttribute(const std::string& name) const override {
    return number.contains(name) || integer.contains(name) || text.contains(name) || numbers.contains(name) ||
           integers.contains(name);
  }
  int64_t intAttribute(const std::string& name, int64_t fallback) const override {
    return get(integer, name, fallback);
  }
  float floatAttribute(const std::string& name, float fallback) const override { return get(number, name, fallback); }
  std::string stringAttribute(const std::string& name, const std::string& fallback) const override {
    return get(text, name, fallback);
  }
  Integers intsAttribute(const std::string& name) const override { return get(integers, name, {}); }
  Floats floatsAttribute(const std::string& name) const override { return get(numbers, name, {}); }
  Result<Tensor> tensorAttribute(const std::string& name) const override {
    return Status::unsupported("no tensor '{}'", name);
  }
  size_t inputCount() const override { return inputs_.size(); }
  size_t outputCount() const override { return 1; }
  int input(size_t index) const override { return index < inputs_.size() ? inputs_[index] : -1; }
  std::vector<int> inputs() const override { return inputs_; }
  const Tensor* constantInput(size_t) const override { return nullptr; }
  using OnnxNode::addConstant;
  int addConstant(const std::string& suffix, Tensor value) override {
    return model.addConstant(suffix, std::move(value));
  }
  Status emit(const std::string& type, std::vector<int> inputs, ParamBytes params) override {
    model.outputs = {emitIntermediate(type, std::move(inputs), std::move(params))};
    return Status::ok();
  }
  Status emitOutput(size_t, const std::string&, std::vector<int>, ParamBytes) override {
    return Status::internal("not here");
  }
  Status emitControl(const std::string&, std::vector<int>, const std::vector<std::string>&, ParamBytes) override {
    return Status::unsupported("no control flow");
  }
  Status emitConstant(Tensor) override { return Status::unsupported("no constants"); }
  std::vector<int> emitIntermediates(const std::string& type, std::vector<int> inputs, size_t outputs,
                                     ParamBytes params) override {
    return model.addNode(type, fmt::format("node{}", model.nodes.size()), std::move(inputs), std::move(params),
                         outputs);
  }

  Model model;
  std::map<std::string, float> number;
  std::map<std::string, int64_t> integer;
  std::map<std::string, std::string> text;
  std::map<std::string, Floats> numbers;
  std::map<std::string, Integers> integers;

 private:
  template <class T>
  static T get(const std::map<std::string, T>& values, const std::string& name, T fallback) {
    const auto found = values.find(name);
    return found == values.end() ? fallback : found->second;
  }

  std::string type_;
  std::vector<int> inputs_;
};

template <class T>
Tensor tensor(DType dtype, Shape shape, const std::vector<T>& values) {
  return *Tensor::fromValues<T>({dtype, std::move(shape)}, values);
}
Tensor floats(Shape shape, const Floats& values) { return tensor(DType::Float32, std::move(shape), values); }

std::vector<std::string> backends() {
#ifdef OPKIT_HAS_VULKAN
  return {"cpu", "vulkan"};
#else
  return {"cpu"};
#endif
}

/// Runs the network of the node's rule on every backend. The output must have this shape and these values, f32 within
/// a relative 1e-6; NaN equals NaN.
void expectOutput(Node& node, const std::vector<Tensor>& inputs, const Shape& shape,
                  const std::vector<double>& expected) {
  const Status imported = node.import();
  ASSERT_TRUE(imported.isOk()) << imported.toString();
  auto interpreter = Interpreter::create(node.model, builtinOps());
  ASSERT_TRUE(interpreter) << interpreter.error().toString();
  for (const std::string& backend : backends()) {
    auto session = (*interpreter)->createSession({.backend = backend, .threads = 1});
    ASSERT_TRUE(session) << session.error().toString();
    for (size_t i = 0; i < inputs.size(); ++i) convertElements(inputs[i], *(*session)->input(fmt::format("x{}", i)));
    const Status run = (*session)->run();
    ASSERT_TRUE(run.isOk()) << run.toString();
    const Tensor& y = (*session)->outputs()[0];
    ASSERT_EQ(y.desc.shape, shape) << backend;
    const OracleTensor values = OracleTensor::fromTensor(y);
    for (size_t i = 0; i < expected.size(); ++i) {
      const double value = values.isReal() ? values.real[i] : static_cast<double>(values.integer[i]);
      const bool isRight =
          std::isnan(expected[i]) ? std::isnan(value) : std::fabs(value - expected[i]) <= 1e-6 * std::fabs(expected[i]);
      EXPECT_TRUE(isRight) << backend << " [" << i << "] expected " << expected[i] << ", got " << value;
    }
  }
}

const TensorDesc kTable{DType::Float32, {2, 3}};
const std::vector<float> kValues{1, -2, 4, 0, 0, 0};

TEST(Features, ArrayFeatureExtractorTakesColumns) {
  Node node("ArrayFeatureExtractor", {kTable, {DType::Int64, {1, 2}}});
  expectOutput(node, {floats({2, 3}, kValues), tensor<int64_t>(DType::Int64, {1, 2}, {2, 0})}, {2, 2}, {4, 1, 0, 0});
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
  probit.numbers["coefficients"] = {1, 1, 0};
  probit.text["post_transform"] = "PROBIT";
  EXPECT_EQ(probit.import().message(),
            "LinearRegressor: post_transform must be one of NONE, SOFTMAX, LOGISTIC, got 'PROBIT'");
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

TEST(Features, ScalerOffsetsFirst) {
  Node node("Scaler", {{DType::Int32, {2, 3}}});
  node.numbers["offset"] = {1, 2, 3};
  node.numbers["scale"] = {2};
  expectOutput(node, {tensor<int32_t>(DType::Int32, {2, 3}, {1, 2, 3, 4, 5, 6})}, {2, 3}, {0, 0, 0, 6, 6, 6});
}

}  // namespace
}  // namespace opkit::ops::features
