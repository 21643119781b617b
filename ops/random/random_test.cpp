// The generator against its authors' known answers, the streams of all kernels against each other, and the
// distributions that they draw from. Seeds are fixed, so that nothing here depends on luck.
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <set>

#include "engine/runtime/session.h"
#include "ops/builtin_ops.h"
#include "ops/random/philox.h"
#include "ops/random/random_onnx.h"
#include "ops/random/random_vectors.h"
#include "ops/random/sampling.h"

namespace opkit::ops::random {
namespace {

constexpr int64_t kNumbers = 100000;

TEST(Philox, GivesTheKnownAnswers) {
  constexpr uint32_t kOnes = 0xFFFFFFFF;
  EXPECT_EQ(philox({0, 0, 0, 0}, 0), (Words{0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8}));
  EXPECT_EQ(philox({kOnes, kOnes, kOnes, kOnes}, ~uint64_t{0}),
            (Words{0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD}));
  EXPECT_EQ(philox({0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344}, 0x299F31D0A4093822),
            (Words{0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1}));
}

TEST(Keys, OfNamesDiffer) {
  std::set<uint64_t> keys;
  for (int i = 0; i < 10000; ++i) keys.insert(keyOfName(fmt::format("RandomNormal/node_{}", i)));
  keys.insert(keyOfName("RandomUniform/node_0"));
  EXPECT_EQ(keys.size(), 10001u);
  EXPECT_EQ(keyOfName("RandomNormal/node_7"), keyOfName("RandomNormal/node_7"));
}

/// The oracle's generator is another text: both agree on words far into a stream, where the counter has two words.
TEST(Philox, IsTheOraclesGenerator) {
  constexpr uint64_t kKey = 0x123456789ABCDEF0;
  for (const uint64_t first : {uint64_t{0}, uint64_t{999}, (uint64_t{1} << 32) - 1, uint64_t{1} << 40}) {
    const Words words = philoxBlock(first, kKey);
    for (uint64_t k = 0; k < 4; ++k) EXPECT_EQ(uniformAt(kKey, 4 * first + k), (words[k] >> 8) * 0x1p-24);
  }
}

TEST(Philox, IsTheVectorsGeneratorAtEveryLength) {
  const Fill fill{.key = 0xFEDCBA9876543210};
  for (int64_t count = 1; count <= 140; ++count) {
    std::vector<float> numbers(static_cast<size_t>(count) + 1, -1);
    fillRunOf(false)(fill, 5, count, numbers.data());
    for (int64_t i = 0; i < count; ++i)
      EXPECT_EQ(numbers[static_cast<size_t>(i)], uniformAt(fill.key, static_cast<uint64_t>(20 + i)));
    EXPECT_EQ(numbers.back(), -1);
  }
}

std::vector<std::string> backends() {
#ifdef OPKIT_HAS_VULKAN
  return {"cpu", "vulkan"};
#else
  return {"cpu"};
#endif
}

class Distribution : public ::testing::TestWithParam<std::string> {
 protected:
  /// The output of one node on an input x of this type and these values.
  std::vector<double> draw(const std::string& type, const ParamBytes& params, const TensorDesc& x,
                           const std::vector<float>& values) {
    Model model;
    const TensorId input = model.addInput("x", x);
    model.outputs = model.addNode(type, "y", {input}, params);
    auto interpreter = Interpreter::create(std::move(model), builtinOps());
    EXPECT_TRUE(interpreter) << interpreter.error().toString();
    auto session = (*interpreter)->createSession({.backend = GetParam()});
    EXPECT_TRUE(session) << session.error().toString();
    convertElements(*Tensor::fromValues<float>({DType::Float32, x.shape}, values), *(*session)->fillInput("x"));
    const Status status = (*session)->run();
    EXPECT_TRUE(status.isOk()) << status.toString();
    for (const Placement& row : (*session)->placement()) EXPECT_FALSE(row.fellBack) << row.node;
    const OracleTensor y = OracleTensor::fromTensor((*session)->outputs()[0]);
    return y.isReal() ? y.real : std::vector<double>(y.integer.begin(), y.integer.end());
  }
  std::vector<double> numbers(const std::string& type, uint64_t key, float low = 0, float high = 1, float mean = 0,
                              float scale = 1) {
    RandomParamsT params;
    params.key = key;
    params.low = low;
    params.high = high;
    params.mean = mean;
    params.scale = scale;
    return draw(type, packParams(params), {DType::Float32, {kNumbers}}, std::vector<float>(kNumbers));
  }
};

double meanOf(const std::vector<double>& x) {
  return std::accumulate(x.begin(), x.end(), 0.0) / static_cast<double>(x.size());
}
/// The mean of (x - mean)^power.
double momentOf(const std::vector<double>& x, int power) {
  const double mean = meanOf(x);
  double sum = 0;
  for (const double value : x) sum += std::pow(value - mean, power);
  return sum / static_cast<double>(x.size());
}
double correlationOf(const std::vector<double>& x, const std::vector<double>& y, size_t shift) {
  double sum = 0;
  for (size_t i = 0; i + shift < x.size(); ++i) sum += x[i] * y[i + shift];
  return sum / static_cast<double>(x.size());
}

// Bounds are five standard deviations of the statistic, 5 / sqrt(kNumbers) = 0.0158 of the numbers' own.

TEST_P(Distribution, UniformNumbersFillTheirRangeEvenly) {
  const std::vector<double> x = numbers("RandomUniform", 7, -3, 5);
  EXPECT_GE(*std::ranges::min_element(x), -3);
  EXPECT_LE(*std::ranges::max_element(x), 5);
  EXPECT_NEAR(meanOf(x), 1, 0.0158 * 8 / std::sqrt(12.0));
  EXPECT_NEAR(momentOf(x, 2), 64.0 / 12, 0.0158 * 64 * 0.0746);
  std::array<int, 64> bins{};
  for (const double value : x) ++bins[std::min<size_t>(static_cast<size_t>((value + 3) * 8), 63)];
  double chi = 0;
  for (const int bin : bins) chi += std::pow(bin - kNumbers / 64.0, 2) / (kNumbers / 64.0);
  EXPECT_LT(chi, 63 + 5 * std::sqrt(2 * 63.0));
}

TEST_P(Distribution, NormalNumbersHaveTheirMoments) {
  const std::vector<double> x = numbers("RandomNormal", 8, 0, 1, 2, 3);
  EXPECT_NEAR(meanOf(x), 2, 0.0158 * 3);
  EXPECT_NEAR(momentOf(x, 2), 9, 0.0158 * 9 * std::sqrt(2.0));
  EXPECT_NEAR(momentOf(x, 3) / 27, 0, 0.0158 * std::sqrt(6.0));
  EXPECT_NEAR(momentOf(x, 4) / 81, 3, 0.0158 * std::sqrt(96.0));
  EXPECT_GT(*std::ranges::max_element(x), 2 + 3 * 3.5);
}

TEST_P(Distribution, StreamsOfTwoKeysAndPartsOfOneAreIndependent) {
  const std::vector<double> x = numbers("RandomNormal", 1), y = numbers("RandomNormal", 2);
  EXPECT_NE(x, y);
  EXPECT_EQ(x, numbers("RandomNormal", 1));
  EXPECT_NEAR(correlationOf(x, y, 0), 0, 0.0158);
  for (const size_t shift : {1u, 2u, 3u, 4u, 64u}) EXPECT_NEAR(correlationOf(x, x, shift), 0, 0.0158) << shift;
}

TEST_P(Distribution, BernoulliHitsItsProbability) {
  SamplingParamsT params;
  params.key = 9;
  const std::vector<double> x =
      draw("Bernoulli", packParams(params), {DType::Float32, {kNumbers}}, std::vector<float>(kNumbers, 0.3f));
  EXPECT_NEAR(meanOf(x), 0.3, 0.0158 * std::sqrt(0.21));
}

TEST_P(Distribution, MultinomialHitsTheWeights) {
  SamplingParamsT params;
  params.key = 10;
  params.samples = kNumbers;
  const std::vector<double> x = draw("Multinomial", packParams(params), {DType::Float32, {1, 4}},
                                     {std::log(1.0f), std::log(2.0f), -INFINITY, std::log(5.0f)});
  const double shares[] = {0.125, 0.25, 0, 0.625};
  for (int c = 0; c < 4; ++c) {
    const auto share = static_cast<double>(std::ranges::count(x, c)) / kNumbers;
    EXPECT_NEAR(share, shares[c], 0.0158 * std::sqrt(shares[c] * (1 - shares[c]))) << c;
  }
}

INSTANTIATE_TEST_SUITE_P(Random, Distribution, ::testing::ValuesIn(backends()));

}  // namespace
}  // namespace opkit::ops::random
