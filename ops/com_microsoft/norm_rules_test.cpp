// The rules of norms of com.microsoft: the networks that they make, against plain loops.
#include "ops/com_microsoft/plain_attention.h"

namespace opkit::ops::com_microsoft::norm_rules_test {
namespace {

using features::refusalOf;

struct Normed {
  Array y, mean, inverse;
};

/// Rows of the last axis, without scale. Without `centred` the mean counts as 0.
Normed normed(const Array& x, double epsilon, bool centred) {
  Shape statistics = x.shape;
  statistics.back() = 1;
  Normed made{x, Array(statistics), Array(statistics)};
  const auto size = static_cast<size_t>(x.shape.back());
  for (size_t row = 0; row < made.mean.values.size(); ++row) {
    double sum = 0, squares = 0;
    for (size_t i = row * size; i < (row + 1) * size; ++i) sum += x.values[i];
    const double mean = centred ? sum / static_cast<double>(size) : 0;
    for (size_t i = row * size; i < (row + 1) * size; ++i) squares += (x.values[i] - mean) * (x.values[i] - mean);
    const double inverse = 1 / std::sqrt(squares / static_cast<double>(size) + epsilon);
    for (size_t i = row * size; i < (row + 1) * size; ++i) made.y.values[i] = (x.values[i] - mean) * inverse;
    made.mean.values[row] = mean;
    made.inverse.values[row] = inverse;
  }
  return made;
}

/// x, times and plus elements of lists along the last axis.
Array affine(Array x, const Array& scale, const Array& bias) {
  for (size_t i = 0; i < x.values.size(); ++i)
    x.values[i] = x.values[i] * scale.values[i % scale.values.size()] + bias.values[i % bias.values.size()];
  return x;
}

double swish(double x) { return x / (1 + std::exp(-x)); }

TEST(ComMicrosoftNorms, SkipNormsGiveStatisticsAndTheSum) {
  const Array x = wave({2, 3, 4}, 1), gamma = wave({4}, 3), beta = wave({4}, 4), bias = wave({4}, 5), none({1});
  for (const Shape& shape : {Shape{2, 3, 4}, Shape{1, 3, 4}, Shape{3, 4}}) {
    const Array skip = wave(shape, 2);
    Array sum = plusBias(x, bias, 0);
    for (size_t i = 0; i < sum.values.size(); ++i) sum.values[i] += skip.values[i % skip.values.size()];
    NodeCase layer("SkipLayerNormalization",
                   {tensorOf(x), tensorOf(skip), tensorOf(gamma), tensorOf(beta), tensorOf(bias)});
    const Normed centred = normed(sum, 1e-12, true), plain = normed(sum, 1e-12, false);
    layer.expect({affine(centred.y, gamma, beta), centred.mean, centred.inverse, sum});
    NodeCase rms("SkipSimplifiedLayerNormalization", {tensorOf(x), tensorOf(skip), tensorOf(gamma), tensorOf(bias)});
    rms.expect({affine(plain.y, gamma, none), plain.mean, plain.inverse, sum});
  }
}

TEST(ComMicrosoftNorms, DefaultsOfEpsilonAreThoseOfOnnxRuntime) {
  Array x = wave({3, 4}, 1);
  for (double& value : x.values) value = static_cast<float>(value * 1e-3);
  const Array gamma = wave({4}, 3), none({1}), zero({3, 4});
  NodeCase skip("SkipSimplifiedLayerNormalization", {tensorOf(x), tensorOf(zero), tensorOf(gamma)});
  const Normed skipped = normed(x, 1e-12, false);
  skip.expect({affine(skipped.y, gamma, none), skipped.mean, skipped.inverse, x});
  const Normed made = normed(x, 1e-5, false);
  const auto simple = [&] { return NodeCase("SimplifiedLayerNormalization", {tensorOf(x), tensorOf(gamma)}); };
  simple().expect({affine(made.y, gamma, none), made.inverse});
  NodeCase written = simple(), other = simple();
  written.node.integer["stash_type"] = 1;
  written.expect({affine(made.y, gamma, none)});
  other.node.integer["stash_type"] = 10;
  EXPECT_EQ(refusalOf(other.node), "SimplifiedLayerNormalization: stash_type must be 1, got 10");
}

TEST(ComMicrosoftNorms, GatesScaleGroupsOfRows) {
  const Array x = wave({2, 6}, 1), scale = wave({3}, 2), gate = wave({2, 6}, 3), none({1});
  Array y = affine(normed(x.as({4, 3}), 0.25, false).y, scale, none).as({2, 6});
  for (size_t i = 0; i < y.values.size(); ++i) y.values[i] *= swish(gate.values[i]);
  NodeCase test("GatedRMSNorm", {tensorOf(x), tensorOf(scale), tensorOf(gate)});
  test.node.number["epsilon"] = 0.25f;
  test.expect({y});
}

/// Axis i of the result is axis `axes[i]` of x, which has four.
Array moved(const Array& x, const std::vector<size_t>& axes) {
  Array y({x.shape[axes[0]], x.shape[axes[1]], x.shape[axes[2]], x.shape[axes[3]]});
  for (int64_t i = 0; i < elementCount(y.shape); ++i) {
    std::vector<int64_t> from(4);
    for (size_t axis = 4, rest = static_cast<size_t>(i); axis-- > 0;) {
      const auto extent = static_cast<size_t>(y.shape[axis]);
      from[axes[axis]] = static_cast<int64_t>(rest % extent);
      rest /= extent;
    }
    y.values[static_cast<size_t>(i)] = x.at(from);
  }
  return y;
}
Array channelsSecond(const Array& x) { return moved(x, {0, 3, 1, 2}); }
Array channelsLast(const Array& x) { return moved(x, {0, 2, 3, 1}); }

/// Two groups of two channels of x [batch, 4, rows, columns].
Array groupNormed(const Array& x, const Array& gamma, const Array& beta, bool isSwish) {
  const int64_t places = x.shape[2] * x.shape[3];
  Array y = normed(x.as({x.shape[0] * 2, 2 * places}), 1e-5, true).y.as(x.shape);
  for (size_t i = 0; i < y.values.size(); ++i) {
    const size_t channel = i / static_cast<size_t>(places) % 4;
    y.values[i] = y.values[i] * gamma.values[channel] + beta.values[channel];
    if (isSwish) y.values[i] = swish(y.values[i]);
  }
  return y;
}

TEST(ComMicrosoftNorms, GroupsOfChannelsInBothLayouts) {
  const Array x = wave({2, 3, 1, 4}, 1), gamma = wave({4}, 2), beta = wave({4}, 3);
  for (const bool isLast : {false, true})
    for (const bool isSwish : {false, true}) {
      const Array second = channelsSecond(x), y = groupNormed(second, gamma, beta, isSwish);
      NodeCase test("GroupNorm", {tensorOf(isLast ? x : second), tensorOf(gamma), tensorOf(beta)});
      test.node.integer = {{"groups", 2}, {"activation", isSwish ? 1 : 0}};
      if (!isLast) test.node.integer["channels_last"] = 0;
      test.expect({isLast ? channelsLast(y) : y});
    }
}

TEST(ComMicrosoftNorms, GroupsOfASumWithAnImageOrAColour) {
  const Array x = wave({2, 3, 1, 4}, 1), gamma = wave({4}, 2), beta = wave({4}, 3), bias = wave({4}, 5);
  for (const Shape& shape : {Shape{2, 3, 1, 4}, Shape{2, 1, 1, 4}, Shape{2, 4}}) {
    const Array skip = wave(shape, 6);
    Array sum = plusBias(x, bias, 0);
    for (size_t i = 0; i < sum.values.size(); ++i)
      sum.values[i] += shape == x.shape ? skip.values[i] : skip.values[i / 12 * 4 + i % 4];
    NodeCase test("SkipGroupNorm", {tensorOf(x), tensorOf(gamma), tensorOf(beta), tensorOf(skip), tensorOf(bias)});
    test.node.integer = {{"groups", 2}, {"activation", 1}};
    test.expect({channelsLast(groupNormed(channelsSecond(sum), gamma, beta, true)), sum});
    test.node.integer["channels_last"] = 0;
    EXPECT_EQ(refusalOf(test.node), "channels_last must be 1 beside the input skip, got 0");
  }
}

}  // namespace
}  // namespace opkit::ops::com_microsoft::norm_rules_test
