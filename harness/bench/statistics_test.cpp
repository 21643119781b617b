#include "harness/bench/statistics.h"

#include <gtest/gtest.h>

#include "harness/bench/baseline.h"
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

Judgement judged(const std::vector<double>& a, const std::vector<double>& b) {
  return judge(mannWhitney(a, b), medianRatio(a, b), 0.02, std::min(a.size(), b.size()));
}

TEST(Statistics, OnlyASureAndLargeChangeIsNamed) {
  const auto verdict = [](double center) { return judged(around(100, 40, 1), around(center, 40, 2)).change; };
  EXPECT_EQ(verdict(130), Change::Slower);
  EXPECT_EQ(verdict(70), Change::Faster);
  EXPECT_EQ(verdict(100), Change::NotShown) << "half a per cent of noise hides a change of 2 %";
  EXPECT_EQ(judge(0.2, {2, 1.9, 2.1}, 0.02, 9).change, Change::NotShown);
  EXPECT_EQ(judged(around(100, 5, 1), around(900, 5, 2)).change, Change::NotShown) << "five runs prove nothing";
}

TEST(Statistics, EqualIsProved) {
  const Judgement equal = judge(0.4, {1.001, 0.995, 1.008}, 0.02, 9);
  EXPECT_EQ(equal.change, Change::Equal);
  EXPECT_NEAR(equal.within, 0.008, 1e-12);
  EXPECT_EQ(textOf(equal), "equal within 0.8 %");
  EXPECT_EQ(judge(0.4, {1.001, 0.995, 1.03}, 0.02, 9).change, Change::NotShown);
  EXPECT_EQ(judge(0.4, {0.15, 0.05, 1.4}, 0.02, 7).change, Change::NotShown) << "a ratio of 0.15 is not \"same\"";
}

TEST(Statistics, SaysHowManyRunsWouldShowIt) {
  // Half the interval is 0.1 wide and has to become 0.03: (10 / 3)^2 times as many runs.
  EXPECT_EQ(judge(0.2, {1.05, 0.95, 1.15}, 0.02, 9).runs, 100u);
  EXPECT_EQ(judge(0.2, {1.02, 0.5, 1.5}, 0.02, 9).runs, 1000u) << "at most";
  EXPECT_EQ(judge(0.2, {3, 0.5, 5}, 0.02, 4).runs, kLeastProcessRuns);
  EXPECT_EQ(judge(0.2, {1.02, 0.5, 1.5}, 0.02, 1200).runs, 1201u) << "a file may hold more";
  EXPECT_EQ(textOf(judge(0.2, {1.02, 0.5, 1.5}, 0.02, 9)), "not shown: at least 1000 runs a side would");
}

TEST(Statistics, ABusyMachineIsNamed) {
  EXPECT_EQ(BusyMachine::noteOf(0.01), "");
  EXPECT_EQ(BusyMachine::noteOf(0.41), "other processes took 41 % of the cores meanwhile: intervals are wide");
}

}  // namespace
}  // namespace opkit::harness
