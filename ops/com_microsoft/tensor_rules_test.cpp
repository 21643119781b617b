// The rules of BiasAdd, GatedAdd, BiasSplitGelu, BiasSoftmax, CDist, ExpandDims, UnfoldTensor, TorchEmbedding, Rfft,
// Irfft and NhwcMaxPool, and those of com.microsoft for operators of ONNX: the networks that they make, against plain
// loops or by hand.
#include "ops/com_microsoft/plain_attention.h"

namespace opkit::ops::com_microsoft::tensor_rules_test {
namespace {

using features::floats;
using features::refusalOf;

Array arrayOf(Shape shape, std::vector<double> values) {
  Array x(std::move(shape));
  x.values = std::move(values);
  return x;
}
Tensor longs(Shape shape, const std::vector<int64_t>& values) {
  return features::tensor<int64_t>(DType::Int64, std::move(shape), values);
}
Tensor bytes(Shape shape, const std::vector<uint8_t>& values) {
  return features::tensor<uint8_t>(DType::UInt8, std::move(shape), values);
}
double gelu(double x) { return 0.5 * x * (1 + std::erf(x / std::sqrt(2.0))); }

TEST(ComMicrosoftTensors, BiasesAndGates) {
  NodeCase("BiasAdd", {floats({1, 2, 2}, {1, 2, 3, 4}), floats({2}, {10, 20}), floats({1, 2, 2}, {0, -1, 0.5, 1})})
      .expect({arrayOf({1, 2, 2}, {11, 21, 13.5, 25})});
  NodeCase("GatedAdd", {floats({2, 2}, {1, 2, 3, 4}), floats({2, 2}, {1, -1, 2, 0.5}), floats({2, 1}, {3, -2})})
      .expect({arrayOf({2, 2}, {4, -1, -1, 3})});
  NodeCase("BiasSplitGelu", {floats({1, 1, 4}, {1, 2, 0.5, -1}), floats({4}, {1, -4, 0.5, 0.25})})
      .expect({arrayOf({1, 1, 2}, {2 * gelu(1), -2 * gelu(-0.75)})});
}

/// Softmax over `size` neighbours.
Array softmaxOf(Array x, size_t size) {
  for (size_t at = 0; at < x.values.size(); at += size) {
    std::vector<double> row(x.values.begin() + static_cast<ptrdiff_t>(at),
                            x.values.begin() + static_cast<ptrdiff_t>(at + size));
    softmax(row);
    std::ranges::copy(row, x.values.begin() + static_cast<ptrdiff_t>(at));
  }
  return x;
}

TEST(ComMicrosoftTensors, SoftmaxOfASumWithABiasThatRepeats) {
  const Array x = wave({2, 3, 2, 4}, 1);
  for (const bool isInner : {false, true}) {
    const Array bias = wave(isInner ? Shape{2, 1, 1, 4} : Shape{2, 4}, 2);
    Array sum = x;
    for (size_t i = 0; i < sum.values.size(); ++i)
      sum.values[i] += isInner ? bias.values[i / 24 * 4 + i % 4] : bias.values[i % 8];
    for (const int64_t axis : {1, 2, 3, -1}) {
      NodeCase test("BiasSoftmax", {tensorOf(x), tensorOf(bias)});
      test.node.integer = {{"is_inner_broadcast", isInner ? 1 : 0}, {"axis", axis}};
      test.expect({softmaxOf(sum, axis == 1 ? 24 : axis == 2 ? 8 : 4)});
    }
  }
}

TEST(ComMicrosoftTensors, DistancesOfRows) {
  const Tensor a = floats({2, 2}, {0, 0, 3, 4}), b = floats({3, 2}, {0, 0, 3, 0, 1000, 4});
  const Array squares = arrayOf({2, 3}, {0, 9, 1000016, 25, 16, 997 * 997});
  NodeCase("CDist", {a, b}).expect({squares});
  Array roots = squares;
  for (double& value : roots.values) value = std::sqrt(value);
  NodeCase euclidean("CDist", {a, b}), city("CDist", {a, b});
  euclidean.node.text["metric"] = "euclidean";
  euclidean.expect({roots});
  city.node.text["metric"] = "cityblock";
  EXPECT_EQ(refusalOf(city.node), "CDist: metric must be one of sqeuclidean, euclidean, got 'cityblock'");
}

TEST(ComMicrosoftTensors, AnAxisIsInserted) {
  const Array x = wave({2, 3}, 1);
  NodeCase("ExpandDims", {tensorOf(x), integers({}, {1})}).expect({x.as({2, 1, 3})});
  NodeCase("ExpandDims", {tensorOf(x), integers({1}, {-1})}).expect({x.as({2, 3, 1})});
}

TEST(ComMicrosoftTensors, SlicesAlongAnyAxis) {
  const Array x = wave({3, 6, 5}, 1);
  for (const int64_t dim : {0, 1, 2, -1, -2, -3}) {
    const auto axis = static_cast<size_t>(dim < 0 ? dim + 3 : dim);
    Shape shape = x.shape;
    shape[axis] = (shape[axis] - 2) / 2 + 1;
    shape.push_back(2);
    Array y(shape);
    for (int64_t a = 0; a < shape[0]; ++a)
      for (int64_t b = 0; b < shape[1]; ++b)
        for (int64_t c = 0; c < shape[2]; ++c)
          for (int64_t j = 0; j < 2; ++j) {
            std::vector<int64_t> from{a, b, c};
            from[axis] = from[axis] * 2 + j;
            y.at({a, b, c, j}) = x.at(from);
          }
    NodeCase test("UnfoldTensor", {tensorOf(x)});
    test.node.integer = {{"dim", dim}, {"size", 2}, {"step", 2}};
    test.expect({y});
  }
  NodeCase last("UnfoldTensor", {floats({4}, {1, 2, 3, 4})}), none("UnfoldTensor", {floats({4}, {1, 2, 3, 4})});
  last.node.integer["size"] = 3;
  last.expect({arrayOf({2, 3}, {1, 2, 3, 2, 3, 4})});
  none.node.integer = {{"size", 0}};
  EXPECT_EQ(refusalOf(none.node), "size and step must be 1 or more, got 0 and 1");
}

TEST(ComMicrosoftTensors, HalfOfASpectrumAndBack) {
  const Array x = wave({2, 6}, 1);
  Array y({2, 4, 2});
  for (int64_t n = 0; n < 2; ++n)
    for (int64_t k = 0; k < 4; ++k)
      for (int64_t j = 0; j < 6; ++j) {
        const double angle = -2 * M_PI * static_cast<double>(j * k) / 6;
        y.at({n, k, 0}) += x.at({n, j}) * std::cos(angle);
        y.at({n, k, 1}) += x.at({n, j}) * std::sin(angle);
      }
  NodeCase back("Irfft", {tensorOf(y)});
  back.node.integer = {{"signal_ndim", 1}, {"onesided", 1}, {"normalized", 0}};
  back.expect({x});
  // The imaginary parts at the ends are 0, which no relative bound can hold.
  NodeCase there("Rfft", {tensorOf(x)});
  there.node.integer["signal_ndim"] = 1;
  ASSERT_TRUE(there.node.import().isOk());
  const Status run = features::runNetwork(there.node, "cpu", there.inputs, [&](size_t, const Tensor& made) {
    ASSERT_EQ(made.desc.shape, y.shape);
    for (size_t i = 0; i < y.values.size(); ++i) EXPECT_NEAR(made.data<float>()[i], y.values[i], 1e-5);
  });
  EXPECT_TRUE(run.isOk()) << run.toString();
  NodeCase planes("Rfft", {tensorOf(x)});
  planes.node.integer["signal_ndim"] = 2;
  EXPECT_EQ(refusalOf(planes.node), "Rfft: signal_ndim must be 1, got 2");
}

TEST(ComMicrosoftTensors, LargestBytesOfWindowsWithChannelsLast) {
  NodeCase test("NhwcMaxPool", {bytes({1, 2, 3, 2}, {9, 2, 3, 4, 5, 200, 7, 8, 1, 10, 11, 12})});
  test.node.integers = {{"kernel_shape", {1, 2}}, {"pads", {0, 1, 0, 0}}, {"strides", {1, 2}}};
  test.expect({arrayOf({1, 2, 2, 2}, {9, 2, 5, 200, 7, 8, 11, 12})});
}

TEST(ComMicrosoftTensors, OperatorsOfOnnxUnderAnotherDomain) {
  const Array x = wave({2, 3}, 1);
  Array upper = x;
  upper.at({1, 0}) = upper.at({0, 0}) = upper.at({1, 1}) = 0;
  NodeCase("Trilu", {tensorOf(x), longs({}, {1})}).expect({upper});
  NodeCase("GatherND", {tensorOf(x), longs({2, 2}, {1, 0, -1, -1})})
      .expect({arrayOf({2}, {x.at({1, 0}), x.at({1, 2})})});
  NodeCase("TorchEmbedding", {tensorOf(x), longs({1, 2}, {1, 1})})
      .expect(
          {arrayOf({1, 2, 3}, {x.at({1, 0}), x.at({1, 1}), x.at({1, 2}), x.at({1, 0}), x.at({1, 1}), x.at({1, 2})})});
  NodeCase("Pad", {floats({2}, {1, 2}), longs({1, 2}, {1, 2}), floats({1}, {9})})
      .expect({arrayOf({5}, {9, 1, 2, 9, 9})});
  NodeCase("Range", {floats({1}, {1}), floats({}, {3.5})}).expect({arrayOf({3}, {1, 2, 3})});
  NodeCase("Range", {integers({}, {9}), integers({}, {1}), integers({}, {-3})}).expect({arrayOf({3}, {9, 6, 3})});
  NodeCase("Unique", {floats({6}, {2, 1, 1, 3, 4, 3})})
      .expect({arrayOf({4}, {2, 1, 3, 4}), arrayOf({6}, {0, 1, 1, 2, 3, 2}), arrayOf({4}, {1, 2, 2, 1})});
  NodeCase sampled("GridSample", {floats({1, 1, 2, 2}, {1, 2, 3, 4}), floats({1, 1, 2, 2}, {-1, -1, 1, 1})});
  sampled.node.text["mode"] = "nearest";
  sampled.node.integer["align_corners"] = 1;
  sampled.expect({arrayOf({1, 1, 1, 2}, {1, 4})});
}

}  // namespace
}  // namespace opkit::ops::com_microsoft::tensor_rules_test
