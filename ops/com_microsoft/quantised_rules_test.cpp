// The rules of quantised operators: QGemm, QLinearSoftmax, QLinearWhere, the conversions of com.microsoft and zero
// points that are absent, against plain loops.
#include "engine/tensor/half.h"
#include "ops/com_microsoft/plain_attention.h"

namespace opkit::ops::com_microsoft {
namespace {

using features::floats;
using features::refusalOf;
using Bytes = std::vector<uint8_t>;
using SignedBytes = std::vector<int8_t>;

Tensor bytes(Shape shape, const Bytes& values) { return features::tensor(DType::UInt8, std::move(shape), values); }
Tensor signedBytes(Shape shape, const SignedBytes& values) {
  return features::tensor(DType::Int8, std::move(shape), values);
}

/// value / scale + zero point as a byte, to nearest even.
double quantised(double value, double scale, double zeroPoint) {
  return std::clamp(std::nearbyint(value / scale) + zeroPoint, 0.0, 255.0);
}

struct GemmForm {
  bool transA, transB, hasC, isQuantized;
};

/// a [2, 3] less 100, b [3, 2] less a zero point per column, times 1/2, 1/4 and alpha 1/2; y has the scale 2. The sums
/// are odd, so that half of the results are ties.
void expectGemm(const GemmForm& form) {
  const double a[2][3] = {{90, 104, 255}, {0, 101, 99}}, b[3][2] = {{3, -5}, {8, 127}, {-128, 1}}, points[] = {2, -1};
  const double c[] = {-7, 40};
  Bytes storedA(6);
  SignedBytes storedB(6);
  Array y({2, 2});
  for (size_t k = 0; k < 3; ++k)
    for (size_t i = 0; i < 2; ++i) {
      storedA[form.transA ? k * 2 + i : i * 3 + k] = static_cast<uint8_t>(a[i][k]);
      storedB[form.transB ? i * 3 + k : k * 2 + i] = static_cast<int8_t>(b[k][i]);
      for (size_t j = 0; j < 2; ++j) y.values[i * 2 + j] += (a[i][k] - 100) * (b[k][j] - points[j]);
    }
  for (size_t i = 0; i < 4; ++i) {
    const double real = (y.values[i] + (form.hasC ? c[i % 2] : 0)) * 0.5 * 0.5 * (i % 2 == 0 ? 0.25 : 0.5);
    y.values[i] = form.isQuantized ? quantised(real, 2, 120) : real;
  }
  std::vector<std::optional<Tensor>> inputs{bytes(form.transA ? Shape{3, 2} : Shape{2, 3}, storedA),
                                            floats({}, {0.5f}),
                                            bytes({}, {100}),
                                            signedBytes(form.transB ? Shape{2, 3} : Shape{3, 2}, storedB),
                                            floats({2}, {0.25f, 0.5f}),
                                            signedBytes({2}, {2, -1})};
  inputs.push_back(form.hasC ? std::optional(integers({2}, {-7, 40})) : std::nullopt);
  if (form.isQuantized) inputs.insert(inputs.end(), {floats({}, {2}), bytes({}, {120})});
  NodeCase test("QGemm", inputs);
  test.node.number["alpha"] = 0.5f;
  test.node.integer = {{"transA", form.transA}, {"transB", form.transB}};
  test.expect({y}, 0);
}

TEST(ComMicrosoftQuantised, GemmsAreExact) {
  for (const bool hasC : {false, true})
    for (const bool isQuantized : {false, true}) {
      expectGemm({false, false, hasC, isQuantized});
      expectGemm({true, false, hasC, isQuantized});
      expectGemm({false, true, hasC, isQuantized});
    }
  const Tensor a = bytes({1, 1}, {1}), scale = floats({}, {1}), zero = bytes({}, {0});
  NodeCase half("QGemm", {a, scale, zero, a, scale, zero, std::nullopt, scale});
  EXPECT_EQ(refusalOf(half.node), "y_scale and y_zero_point must both be given or both be absent");
}

/// Shares of the groups of 2 x 2 x 3 elements that the opset and the axis mean.
Array shares(const Bytes& x, const std::function<int(int)>& groupOf) {
  std::array<double, 12> sums{};
  const auto power = [&](int i) { return std::exp(0.25 * x[static_cast<size_t>(i)]); };
  for (int i = 0; i < 12; ++i) sums[static_cast<size_t>(groupOf(i))] += power(i);
  Array y({2, 2, 3});
  for (int i = 0; i < 12; ++i)
    y.values[static_cast<size_t>(i)] = quantised(power(i) / sums[static_cast<size_t>(groupOf(i))], 1.0 / 256, 5);
  return y;
}

TEST(ComMicrosoftQuantised, TheOpsetOfSoftmaxSaysWhichAxesItCovers) {
  const Bytes x{3, 9, 4, 7, 1, 0, 12, 6, 8, 2, 5, 11};
  const auto expect = [&](std::map<std::string, int64_t> attributes, const std::function<int(int)>& groupOf) {
    NodeCase test("QLinearSoftmax", {bytes({2, 2, 3}, x), floats({}, {0.25f}), bytes({}, {77}),
                                     floats({}, {1.0f / 256}), bytes({}, {5})});
    test.node.integer = std::move(attributes);
    test.expect({shares(x, groupOf)}, 0);
  };
  expect({{"opset", 13}}, [](int i) { return i / 3; });
  expect({{"opset", 13}, {"axis", 1}}, [](int i) { return i / 6 * 3 + i % 3; });
  expect({{"opset", 12}}, [](int i) { return i / 3; });
  expect({{"opset", 12}, {"axis", 1}}, [](int i) { return i / 6; });
  expect({{"opset", 11}, {"axis", 0}}, [](int) { return 0; });
  NodeCase none("QLinearSoftmax", {bytes({3}, {1, 2, 3}), floats({}, {1}), bytes({}, {0}), floats({}, {1})});
  EXPECT_NE(refusalOf(none.node).find("opset"), std::string::npos);
}

TEST(ComMicrosoftQuantised, WhereConvertsBothToTheOutput) {
  const Tensor condition = features::tensor<uint8_t>(DType::Bool, {3}, {1, 0, 1});
  NodeCase test("QLinearWhere",
                {condition, bytes({3}, {10, 20, 200}), floats({}, {0.5f}), bytes({}, {8}), bytes({1}, {9}),
                 floats({}, {4}), bytes({}, {6}), floats({}, {0.25f}), bytes({}, {3})});
  Array y({3});
  y.values = {7, 51, 255};
  test.expect({y}, 0);
}

TEST(ComMicrosoftQuantised, WithoutZeroPointTheTypeIsThatOfTheInput) {
  const Tensor x = signedBytes({4}, {-4, -1, 2, 3}), one = floats({}, {1}), half = floats({}, {0.5f});
  Array doubled({4});
  doubled.values = {-8, -2, 4, 6};
  NodeCase sum("QLinearAdd", {x, one, std::nullopt, x, one, std::nullopt, one});
  sum.expect({doubled}, 0);
  NodeCase leaky("QLinearLeakyRelu", {x, one, std::nullopt, half});
  leaky.node.number["alpha"] = 0.5f;
  Array y({4});
  y.values = {-4, -1, 4, 6};
  leaky.expect({y}, 0);
}

TEST(ComMicrosoftQuantised, ConversionsHaveWideTypesAndScalesOfAnAxis) {
  const Array x = wave({2, 3}, 1);
  const Tensor scales = floats({2}, {1.0f / 4096, 1.0f / 1024});
  const auto points = features::tensor<uint16_t>(DType::UInt16, {2}, {40000, 300});
  NodeCase to("QuantizeLinear", {tensorOf(x), scales, points});
  to.node.integer["axis"] = 0;
  Array y({2, 3});
  std::vector<uint16_t> codes;
  Array back({2, 3});
  for (size_t i = 0; i < 6; ++i) {
    const double scale = i < 3 ? 1.0 / 4096 : 1.0 / 1024, point = i < 3 ? 40000 : 300;
    y.values[i] = std::clamp(std::nearbyint(x.values[i] / scale) + point, 0.0, 65535.0);
    codes.push_back(static_cast<uint16_t>(y.values[i]));
    back.values[i] = (y.values[i] - point) * scale;
  }
  to.expect({y}, 0);
  NodeCase from("DequantizeLinear", {features::tensor(DType::UInt16, {2, 3}, codes), scales, points});
  from.node.integer["axis"] = 0;
  from.expect({back}, 0);
}

TEST(ComMicrosoftQuantised, HalvesAreDividedInFloats) {
  const auto halves = [](float value) { return features::tensor(DType::Float16, {1}, std::vector{toHalf(value)}); };
  // 9.497, which f16 rounds to 9.5 and then to 10.
  NodeCase test("QuantizeLinear", {halves(2.849609375f), halves(0.300048828125f)});
  Array y({1});
  y.values = {9};
  test.expect({y}, 0);
}

}  // namespace
}  // namespace opkit::ops::com_microsoft
