// The rules of FusedMatMul, TransposeMatMul, FusedGemm and FusedConv: the networks that they make, against plain loops.
#include "ops/com_microsoft/plain_attention.h"

namespace opkit::ops::com_microsoft::product_rules_test {
namespace {

using features::refusalOf;

/// An operand, and which of its axes are exchanged.
struct Operand {
  Shape shape;
  bool transposed = false, batchInside = false;

  /// The element of a row or column and a summed place.
  double at(const Array& x, int64_t batch, int64_t first, int64_t second, bool isLeft) const {
    if (shape.size() == 1) return x.at({isLeft ? second : first});
    if (transposed) std::swap(first, second);
    if (shape.size() == 2) return x.at({first, second});
    return batchInside ? x.at({first, batch, second}) : x.at({batch % shape[0], first, second});
  }
};

struct Product {
  Operand a, b;
  int64_t batch, rows, sums, columns;
  Shape y;
};

void expectProduct(const char* type, const Product& product, bool isConstant = false) {
  const Array a = wave(product.a.shape, 1), b = wave(product.b.shape, 2);
  Array y(product.y);
  for (int64_t place = 0; place < elementCount(product.y); ++place) {
    const int64_t j = place % product.columns, i = place / product.columns % product.rows;
    const int64_t n = place / product.columns / product.rows;
    for (int64_t k = 0; k < product.sums; ++k)
      y.values[static_cast<size_t>(place)] += 0.5 * product.a.at(a, n, i, k, true) * product.b.at(b, n, k, j, false);
  }
  NodeCase test(type, {tensorOf(a), tensorOf(b)});
  if (isConstant) test.node.setConstant(1, tensorOf(b));
  test.node.number["alpha"] = 0.5f;
  if (product.a.transposed) test.node.integer["transA"] = 1;
  if (product.b.transposed) test.node.integer["transB"] = 1;
  if (product.a.batchInside) test.node.integer["transBatchA"] = 1;
  if (product.b.batchInside) test.node.integer["transBatchB"] = 1;
  SCOPED_TRACE(fmt::format("{} {} of {}, {} {}", type, toString(product.a.shape), product.a.transposed,
                           toString(product.b.shape), product.b.transposed));
  test.expect({y});
}

TEST(ComMicrosoftProducts, ListsHaveNoAxesToExchange) {
  expectProduct("TransposeMatMul", {{{5}, true}, {{3, 5}, true}, 1, 1, 5, 3, {3}});
  expectProduct("FusedMatMul", {{{5}, true}, {{5}, true}, 1, 1, 5, 1, {}});
  expectProduct("FusedMatMul", {{{5}, true}, {{3, 5}, true}, 1, 1, 5, 3, {3}});
  expectProduct("FusedMatMul", {{{5}, true}, {{5, 3}}, 1, 1, 5, 3, {3}});
  expectProduct("FusedMatMul", {{{5, 3}, true}, {{5}, true}, 1, 3, 5, 1, {3}});
  expectProduct("FusedMatMul", {{{5}}, {{2, 3, 5}, true}, 2, 1, 5, 3, {2, 3}});
  expectProduct("FusedMatMul", {{{2, 5, 3}, true}, {{5}}, 2, 3, 5, 1, {2, 3}});
  expectProduct("FusedMatMul", {{{1, 5, 3}, true}, {{2, 5, 4}}, 2, 3, 5, 4, {2, 3, 4}});
  expectProduct("FusedMatMul", {{{5}, true}, {{3, 5}, true}, 1, 1, 5, 3, {3}}, true);
  expectProduct("FusedMatMul", {{{5, 3}, true}, {{5}}, 1, 3, 5, 1, {3}}, true);
}

TEST(ComMicrosoftProducts, BatchAxesMayStandBetweenTheOthers) {
  expectProduct("FusedMatMul", {{{3, 2, 5}, false, true}, {{5, 2, 4}, false, true}, 2, 3, 5, 4, {2, 3, 4}});
  expectProduct("FusedMatMul", {{{5, 2, 3}, true, true}, {{4, 2, 5}, true, true}, 2, 3, 5, 4, {2, 3, 4}});
  expectProduct("FusedMatMul", {{{5, 2, 3}, true, true}, {{2, 5, 4}}, 2, 3, 5, 4, {2, 3, 4}});
  expectProduct("FusedMatMul", {{{2, 3, 5}}, {{4, 2, 5}, true, true}, 2, 3, 5, 4, {2, 3, 4}});
}

struct Activation {
  const char* name;
  std::vector<std::pair<const char*, float>> parameters;
  double (*of)(double);
};

const std::vector<Activation>& activations() {
  static const std::vector<Activation> all{
      {"Relu", {}, [](double x) { return std::max(x, 0.0); }},
      {"Tanh", {}, [](double x) { return std::tanh(x); }},
      {"Sigmoid", {}, [](double x) { return 1 / (1 + std::exp(-x)); }},
      {"Silu", {}, [](double x) { return x / (1 + std::exp(-x)); }},
      {"HardSwish", {}, [](double x) { return x * std::clamp(x / 6 + 0.5, 0.0, 1.0); }},
      {"Softplus", {}, [](double x) { return std::log1p(std::exp(x)); }},
      {"Softsign", {}, [](double x) { return x / (1 + std::fabs(x)); }},
      {"Elu", {{"alpha", 0.5f}}, [](double x) { return x < 0 ? 0.5 * std::expm1(x) : x; }},
      {"Celu", {{"alpha", 0.5f}}, [](double x) { return x < 0 ? 0.5 * std::expm1(x / 0.5) : x; }},
      {"LeakyRelu", {{"alpha", 0.25f}}, [](double x) { return x < 0 ? x / 4 : x; }},
      {"ThresholdedRelu", {{"alpha", 0.75f}}, [](double x) { return x > 0.75 ? x : 0; }},
      {"HardSigmoid", {{"alpha", 0.5f}, {"beta", 0.25f}}, [](double x) { return std::clamp(x / 2 + 0.25, 0.0, 1.0); }},
      {"Clip", {{"alpha", -0.5f}, {"beta", 0.75f}}, [](double x) { return std::clamp(x, -0.5, 0.75); }},
      {"Selu", {{"alpha", 1.5f}, {"gamma", 1.25f}}, [](double x) { return 1.25 * (x > 0 ? x : 1.5 * std::expm1(x)); }},
      {"ParametricSoftplus",
       {{"alpha", 0.75f}, {"beta", 1.5f}},
       [](double x) { return 0.75 * std::log1p(std::exp(1.5 * x)); }},
      {"ScaledTanh", {{"alpha", 1.25f}, {"beta", 0.5f}}, [](double x) { return 1.25 * std::tanh(0.5 * x); }}};
  return all;
}

TEST(ComMicrosoftProducts, ActivationsHaveTheirParameters) {
  const Array x = wave({5, 1}, 1);
  for (const Activation& activation : activations()) {
    SCOPED_TRACE(activation.name);
    Array y = x;
    for (double& value : y.values) value = activation.of(2 * value);
    NodeCase gemm("FusedGemm", {tensorOf(x), features::floats({1, 1}, {1})});
    gemm.node.number["alpha"] = 2;
    gemm.node.text["activation"] = activation.name;
    for (const auto& [name, value] : activation.parameters) {
      const std::string attribute = std::string("activation_") + name;
      EXPECT_EQ(refusalOf(gemm.node), fmt::format("activation {} needs the attribute {}", activation.name, attribute));
      gemm.node.number[attribute] = value;
    }
    ASSERT_TRUE(gemm.node.import().isOk());
    const Status run = features::runNetwork(gemm.node, "cpu", gemm.inputs, [&](size_t, const Tensor& made) {
      features::expectTensor(made, {y.shape, y.values, 1e-3}, "cpu");
    });
    EXPECT_TRUE(run.isOk()) << run.toString();
  }
}

TEST(ComMicrosoftProducts, ActivationsOfConvHaveTheirParametersInOrder) {
  const Array x = wave({1, 1, 5}, 1);
  const Tensor two = features::floats({1, 1, 1}, {2});
  for (const Activation& activation : activations()) {
    if (std::string_view("LeakyRelu Silu Selu ScaledTanh").find(activation.name) == std::string_view::npos) continue;
    SCOPED_TRACE(activation.name);
    Array y = x;
    for (double& value : y.values) value = activation.of(2 * value);
    NodeCase conv("FusedConv", {tensorOf(x), two});
    conv.node.text["activation"] = activation.name;
    const size_t count = activation.parameters.size();
    const std::string refusal =
        fmt::format("activation {} takes {} activation_params, found 0", activation.name, count);
    EXPECT_TRUE(count == 0 || refusalOf(conv.node) == refusal);
    for (const auto& parameter : activation.parameters)
      conv.node.numbers["activation_params"].push_back(parameter.second);
    conv.expect({y});
  }
}

}  // namespace
}  // namespace opkit::ops::com_microsoft::product_rules_test
