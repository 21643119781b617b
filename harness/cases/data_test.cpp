#include "harness/cases/data.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "harness/cases/case_file.h"
#include "harness/cases/rng.h"
#include "ops/builtin_ops.h"

namespace opkit::harness {
namespace {

Tensor inputOf(const std::string& id, size_t index = 0, Domain domain = {}) {
  const auto c = parseCaseId(id);
  EXPECT_TRUE(c) << c.error().message();
  OpDef def;
  def.domain = domain;
  auto inputs = makeInputs(*c, def);
  EXPECT_TRUE(inputs);
  return *(*inputs)[index];
}

TEST(Rng, IsTheSameEverywhere) {
  Rng rng(7);  // computed once with the published reference algorithms
  const uint64_t first = rng.next();
  Rng again(7);
  EXPECT_EQ(again.next(), first);
  EXPECT_NE(Rng(8).next(), first);
  for (int i = 0; i < 1000; ++i) {
    const double u = rng.uniform();
    EXPECT_GE(u, 0);
    EXPECT_LT(u, 1);
    const int64_t k = rng.integer(-2, 2);
    EXPECT_LE(std::abs(k), 2);
  }
}

TEST(Data, SeededByWhatIdentifiesTheInput) {
  const auto values = [](const std::string& id) {
    const Tensor tensor = inputOf(id);
    const std::span<float> data = tensor.data<float>();
    return std::vector<float>(data.begin(), data.end());
  };
  EXPECT_EQ(values("Relu/f32[9]/normal/seed=7"), values("Relu/f32[9]/normal/seed=7"));
  EXPECT_NE(values("Relu/f32[9]/normal/seed=7"), values("Relu/f32[9]/normal/seed=8"));
  EXPECT_EQ(values("Add/f32[9],f32[1]/normal/seed=7"), values("Add/f32[9],f32[9]/normal/seed=7"))
      << "a constant must be the same at every stop of a walk";
}

TEST(Data, NumbersBeyondAnIntegerAreTheNearestOne) {
  const auto [least, most] = std::pair(std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max());
  const Tensor range = inputOf(R"(Abs/i64[64]/designed/seed=7/data=[{"range":[-1e19,1e19]}])");
  EXPECT_GT(std::ranges::count_if(range.data<int64_t>(), [](int64_t x) { return x > 0; }), 8);
  EXPECT_GT(std::ranges::count_if(range.data<int64_t>(), [](int64_t x) { return x < 0; }), 8);
  const Tensor values = inputOf(R"(Abs/i64[4]/designed/seed=7/data=[{"values":["inf","-inf","nan",1e300]}])");
  EXPECT_TRUE(std::ranges::equal(values.data<int64_t>(), std::array{most, least, int64_t{0}, most}));
}

TEST(Data, NormalStaysInTheDomain) {
  const Tensor tensor = inputOf("Log/f32[1000]/normal/seed=7", 0, {0.5, 2});
  for (const float x : tensor.data<float>()) {
    EXPECT_GE(x, 0.5f);
    EXPECT_LE(x, 2.0f);
  }
}

/// Elements of `id` by which eighth of the magnitudes from 10^-exponent to 10^exponent they are in.
std::array<int, 8> eighthsOf(const std::string& id, double exponent, bool negative = false) {
  std::array<int, 8> counts = {};
  const Tensor tensor = inputOf(id);
  for (const float x : tensor.data<float>()) {
    EXPECT_EQ(x < 0, negative);
    const double place = (std::log10(std::fabs(x)) + exponent) / (2 * exponent);
    EXPECT_TRUE(place > -1e-6 && place < 1 + 1e-6) << x;
    ++counts[static_cast<size_t>(std::clamp(place * 8, 0.0, 7.0))];
  }
  return counts;
}

TEST(Data, RangesOverMagnitudesHoldEachOfThem) {
  for (const int count : eighthsOf(R"(Log/f32[800]/designed/seed=7/data=[{"range":[1e-30,1e30]}])", 30))
    EXPECT_TRUE(count > 60 && count < 140) << count;
  for (const int count : eighthsOf(R"(Log/f32[800]/designed/seed=7/data=[{"range":[-1e6,-1e-6]}])", 6, true))
    EXPECT_TRUE(count > 60 && count < 140) << count;
  const Tensor domain = inputOf("Log/f32[800]/normal/seed=7", 0, {1e-4, 1e4});
  int below = 0;
  for (const float x : domain.data<float>()) below += x < 1;
  EXPECT_TRUE(below > 300 && below < 500) << below;
}

TEST(Data, OtherRangesAreUniform) {
  for (const char* range : {"[0,1000]", "[1,1000]", "[-1000,1]"}) {
    const Tensor tensor = inputOf(fmt::format(R"(Log/f32[800]/designed/seed=7/data=[{{"range":{}}}])", range));
    int middle = 0;
    for (const float x : tensor.data<float>()) middle += std::fabs(x) > 250 && std::fabs(x) < 750;
    EXPECT_TRUE(middle > 320 && middle < 480) << range << ": " << middle;
  }
}

TEST(Data, ExactIsSmallIntegersAndZerosOfBothSigns) {
  const Tensor tensor = inputOf("MatMul/f16[1000]/exact/seed=7");
  int zeros = 0, negativeZeros = 0;
  for (const Half h : tensor.data<Half>()) {
    const float x = toFloat(h);
    EXPECT_EQ(x, std::nearbyint(x));
    EXPECT_LE(std::fabs(x), 4);
    zeros += x == 0;
    negativeZeros += x == 0 && std::signbit(x);
  }
  EXPECT_TRUE(zeros > 80 && zeros < 180) << zeros;
  EXPECT_TRUE(negativeZeros > zeros / 4 && negativeZeros < zeros * 3 / 4) << negativeZeros;
  const Tensor integers = inputOf("Add/i32[1000]/exact/seed=7");
  EXPECT_GT(std::ranges::count(integers.data<int32_t>(), 0), 80);
}

TEST(Data, SpecialsHoldThemAll) {
  const Tensor tensor = inputOf("Relu/f32[64]/specials/seed=7");
  int nan = 0, infinite = 0, denormal = 0;
  for (const float x : tensor.data<float>()) {
    nan += std::isnan(x);
    infinite += std::isinf(x);
    denormal += std::fpclassify(x) == FP_SUBNORMAL;
  }
  EXPECT_GE(nan, 1);
  EXPECT_GE(infinite, 2);
  EXPECT_GE(denormal, 2);
}

TEST(Data, FormsDoWhatTheySay) {
  const Tensor limits = inputOf(R"(Slice/i64[2]/designed/seed=7/data=[{"values":[9223372036854775807,-1]}])");
  EXPECT_EQ(limits.data<int64_t>()[0], INT64_MAX);
  const Tensor spike = inputOf(R"(Relu/f32[100]/designed/seed=7/data=[{"pattern":"spike"}])");
  const std::span<float> values = spike.data<float>();
  EXPECT_EQ(std::count(values.begin(), values.end(), 10000.0f), 1);
  const Tensor negative = inputOf(R"(MaxPool/f32[100]/designed/seed=7/data=[{"pattern":"negative"}])");
  for (const float x : negative.data<float>()) EXPECT_LT(x, 0);
  const Tensor alternating = inputOf(R"(ReduceSum/f32[100]/designed/seed=7/data=[{"pattern":"alternating"}])");
  for (size_t i = 0; i < 100; ++i) {
    EXPECT_NEAR(std::fabs(alternating.data<float>()[i]), 1000, 1);
    EXPECT_EQ(alternating.data<float>()[i] < 0, i % 2 == 1);
  }
  const Tensor rows = inputOf(R"(Relu/f32[3,5]/designed/seed=7/data=[{"pattern":"rows"}])");
  EXPECT_EQ(rows.data<float>()[0], rows.data<float>()[4]);
  EXPECT_NE(rows.data<float>()[0], rows.data<float>()[5]);
  const Tensor special = inputOf(R"(Relu/f32[4]/designed/seed=7/data=[{"values":["inf","-inf","nan","-nan"]}])");
  EXPECT_TRUE(std::isnan(special.data<float>()[2]));
  EXPECT_TRUE(std::isnan(special.data<float>()[3]) && std::signbit(special.data<float>()[3]));
}

TEST(Data, MaskedRowsHideTheirFirstHalf) {
  const auto c = parseCaseId(R"(Softmax/f32[3,7]/designed/seed=7/data=[{"pattern":"masked"}])");
  ASSERT_TRUE(c) << c.error().message();
  const auto inputs = makeInputs(*c, *ops::builtinOps().find("Softmax"));
  ASSERT_TRUE(inputs);
  const auto x = (*inputs)[0]->data<float>();
  for (size_t i = 0; i < x.size(); ++i) EXPECT_EQ(x[i] == -INFINITY, i % 7 < 3) << i;
}

}  // namespace
}  // namespace opkit::harness
