// The rules of NhwcConv, NhwcFusedConv, QLinearAveragePool and EmbedLayerNormalization: the networks that they make,
// against plain loops.
#include "ops/com_microsoft/plain_attention.h"

namespace opkit::ops::com_microsoft {
namespace {

using features::refusalOf;

/// x [batch, rows, columns, channels] with weights [out, channels, 2, 2], strides of 1 and a row of 0 above.
Array convolved(const Array& x, const Array& w, const Array& bias) {
  Array y({x.shape[0], x.shape[1], x.shape[2] - 1, w.shape[0]});
  for (int64_t n = 0; n < y.shape[0]; ++n)
    for (int64_t r = 0; r < y.shape[1]; ++r)
      for (int64_t c = 0; c < y.shape[2]; ++c)
        for (int64_t o = 0; o < y.shape[3]; ++o) {
          double& sum = y.at({n, r, c, o}) = bias.at({o});
          for (int64_t i = 0; i < x.shape[3]; ++i)
            for (int64_t tap = 0; tap < 4; ++tap)
              if (const int64_t row = r + tap / 2 - 1; row >= 0)
                sum += x.at({n, row, c + tap % 2, i}) * w.at({o, i, tap / 2, tap % 2});
        }
  return y;
}

TEST(ComMicrosoftLayout, ChannelsOfConvAreLast) {
  const Array x = wave({2, 3, 4, 3}, 1), w = wave({5, 3, 2, 2}, 2), bias = wave({5}, 3), z = wave({2, 3, 3, 5}, 4);
  NodeCase plain("NhwcConv", {tensorOf(x), tensorOf(w), tensorOf(bias)});
  plain.node.integers = {{"kernel_shape", {2, 2}}, {"pads", {1, 0, 0, 0}}};
  Array y = convolved(x, w, bias);
  plain.expect({y});
  NodeCase fused("NhwcFusedConv", {tensorOf(x), tensorOf(w), tensorOf(bias), tensorOf(z)});
  fused.node.integers["pads"] = {1, 0, 0, 0};
  fused.node.text["activation"] = "LeakyRelu";
  fused.node.numbers["activation_params"] = {0.25f};
  EXPECT_EQ(refusalOf(fused.node), "kernel_shape must be given where the weights are no constant");
  fused.node.setConstant(1, tensorOf(w));
  for (size_t i = 0; i < y.values.size(); ++i) {
    const double sum = y.values[i] + z.values[i];
    y.values[i] = sum < 0 ? sum / 4 : sum;
  }
  fused.expect({y});
}

TEST(ComMicrosoftLayout, ChannelsOfPoolsAreWhereTheAttributeSays) {
  std::vector<uint8_t> x;
  for (int i = 0; i < 40; ++i) x.push_back(static_cast<uint8_t>(i * 53 % 256));
  const auto scalar = [](uint8_t value) { return features::tensor<uint8_t>(DType::UInt8, {}, {value}); };
  for (const bool isLast : {false, true}) {
    // 2 channels of 4 rows and 5 columns; windows of 2 rows.
    const auto at = [&](int64_t c, int64_t r, int64_t column) {
      return x[static_cast<size_t>(isLast ? (r * 5 + column) * 2 + c : (c * 4 + r) * 5 + column)];
    };
    NodeCase test("QLinearAveragePool",
                  {features::tensor(DType::UInt8, isLast ? Shape{1, 4, 5, 2} : Shape{1, 2, 4, 5}, x),
                   features::floats({}, {0.5f}), scalar(10), features::floats({}, {0.25f}), scalar(3)});
    test.node.integer["channels_last"] = isLast ? 1 : 0;
    EXPECT_EQ(refusalOf(test.node), "attribute kernel_shape is missing");
    test.node.integers = {{"kernel_shape", {2, 1}}, {"strides", {2, 1}}};
    Array y(isLast ? Shape{1, 2, 5, 2} : Shape{1, 2, 2, 5});
    for (int64_t c = 0; c < 2; ++c)
      for (int64_t r = 0; r < 2; ++r)
        for (int64_t column = 0; column < 5; ++column) {
          const double mean = (at(c, 2 * r, column) + at(c, 2 * r + 1, column)) / 2.0 - 10;
          double& to = isLast ? y.at({0, r, column, c}) : y.at({0, c, r, column});
          to = std::clamp(mean * 2 + 3, 0.0, 255.0);
        }
    test.expect({y});
  }
}

TEST(ComMicrosoftEmbedding, RowsOfTablesAreAddedAndNormalised) {
  const Array words = wave({7, 4}, 1), places = wave({5, 4}, 2), segments = wave({2, 4}, 3), gamma = wave({4}, 4);
  const std::vector<int32_t> ids{6, 0, 3, 2, 2, 5}, segment{0, 1, 1, 1, 0, 0}, mask{1, 1, 0, 2, 1, 0};
  for (const bool hasPlaces : {false, true}) {
    std::vector<std::optional<Tensor>> inputs{integers({2, 3}, ids), integers({2, 3}, segment), tensorOf(words),
                                              tensorOf(places),      tensorOf(segments),        tensorOf(gamma),
                                              tensorOf(gamma),       integers({2, 3}, mask)};
    if (hasPlaces) inputs.emplace_back(integers({1, 3}, {4, 0, 1}));
    NodeCase test("EmbedLayerNormalization", inputs);
    Array sum({2, 3, 4}), y({2, 3, 4}), counts({2});
    counts.values = {2, 1};
    for (int64_t token = 0; token < 6; ++token) {
      const int64_t column = token % 3, given = column == 0 ? 4 : column - 1;
      double mean = 0, square = 0;
      for (int64_t i = 0; i < 4; ++i) {
        const auto t = static_cast<size_t>(token);
        const double one =
            words.at({ids[t], i}) + places.at({hasPlaces ? given : column, i}) + segments.at({segment[t], i});
        sum.values[static_cast<size_t>(token * 4 + i)] = one;
        mean += one / 4;
        square += one * one / 4;
      }
      for (int64_t i = 0; i < 4; ++i) {
        const auto at = static_cast<size_t>(token * 4 + i);
        y.values[at] = (sum.values[at] - mean) / std::sqrt(square - mean * mean) * gamma.at({i}) + gamma.at({i});
      }
    }
    test.expect({y, counts, sum});
  }
}

/// The sums that a node gives as its output 2, and the counts of its output 1.
void expectSums(NodeCase& test, const Array& sum) {
  test.node.usedOutputs = 3;
  ASSERT_TRUE(test.node.import().isOk());
  for (const std::string& backend : features::backends()) {
    const Status run = features::runNetwork(test.node, backend, test.inputs, [&](size_t i, const Tensor& y) {
      if (i == 1) features::expectTensor(y, {{2}, {0, 0}}, backend);
      if (i == 2) features::expectTensor(y, {sum.shape, sum.values, 1e-4}, backend);
    });
    EXPECT_TRUE(run.isOk()) << run.toString();
  }
}

TEST(ComMicrosoftEmbedding, SegmentsAndMaskMayBeAbsent) {
  const Array words = wave({7, 4}, 1), places = wave({5, 4}, 2), ones = wave({4}, 4);
  NodeCase test("EmbedLayerNormalization", {integers({2, 1}, {3, 6}), std::nullopt, tensorOf(words), tensorOf(places),
                                            std::nullopt, tensorOf(ones), tensorOf(ones)});
  Array sum({2, 1, 4});
  for (int64_t b = 0; b < 2; ++b)
    for (int64_t i = 0; i < 4; ++i) sum.at({b, 0, i}) = words.at({b == 0 ? 3 : 6, i}) + places.at({0, i});
  expectSums(test, sum);
  NodeCase first("EmbedLayerNormalization", {integers({2, 1}, {3, 6}), std::nullopt, tensorOf(words), tensorOf(places),
                                             tensorOf(words), tensorOf(ones), tensorOf(ones)});
  for (size_t i = 0; i < 8; ++i) sum.values[i] += words.values[i % 4];
  expectSums(first, sum);
  NodeCase half("EmbedLayerNormalization", {integers({2, 1}, {3, 6}), integers({2, 1}, {0, 0}), tensorOf(words),
                                            tensorOf(places), std::nullopt, tensorOf(ones), tensorOf(ones)});
  EXPECT_EQ(refusalOf(half.node), "segment_ids need segment_embedding");
  test.node.integer["mask_index_type"] = 2;
  EXPECT_EQ(refusalOf(test.node), "mask_index_type must be 0 or 1, got 2");
}

}  // namespace
}  // namespace opkit::ops::com_microsoft
