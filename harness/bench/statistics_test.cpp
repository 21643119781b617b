#include "harness/bench/statistics.h"

#include <gtest/gtest.h>

#include "harness/cases/rng.h"

namespace opkit::harness {
namespace {

std::vector<double> around(double center, size_t count, uint64_t seed) {
  Rng rng(seed);
  std::vector<double> values;
  for (size_t i = 0; i < count; ++i) values.push_back(center * rng.uniform(0.95, 1.05));
  return values;
}

TEST(Statistics, MannWhitneyKnowsATextbookExample) {
  // U = 27 of 30; the normal approximation with continuity correction gives this p.
  const std::vector<double> a = {19, 22, 16, 29, 24}, b = {20, 11, 17, 12, 13, 10};
  EXPECT_NEAR(mannWhitney(a, b), 0.03576, 1e-4);
  EXPECT_EQ(mannWhitney({1, 1, 1}, {1, 1, 1}), 1);
  EXPECT_EQ(mannWhitney({1, 2}, {3, 4}), 1) << "too few to say anything";
}

TEST(Statistics, TheIntervalHoldsTheRatio) {
  const RatioInterval same = medianRatio(around(100, 40, 1), around(100, 40, 2));
  EXPECT_LT(same.low, 1);
  EXPECT_GT(same.high, 1);
  const RatioInterval slower = medianRatio(around(100, 40, 1), around(130, 40, 2));
  EXPECT_NEAR(slower.ratio, 1.3, 0.03);
  EXPECT_GT(slower.low, 1.2);
  EXPECT_EQ(slower.low, medianRatio(around(100, 40, 1), around(130, 40, 2)).low) << "seeded";
}

TEST(Statistics, OnlyASureAndLargeChangeIsNamed) {
  const auto verdict = [](double center) {
    const auto a = around(100, 40, 1), b = around(center, 40, 2);
    return judge(mannWhitney(a, b), medianRatio(a, b), 0.02);
  };
  EXPECT_EQ(verdict(100), Change::Same);
  EXPECT_EQ(verdict(130), Change::Slower);
  EXPECT_EQ(verdict(70), Change::Faster);
  EXPECT_EQ(judge(0.2, {2, 1.9, 2.1}, 0.02), Change::Same);
}

}  // namespace
}  // namespace opkit::harness
