#include <gtest/gtest.h>

#include <cmath>

#include "reports/detect/change_points.h"
#include "reports/detect/false_discovery.h"
#include "reports/detect/student.h"

namespace opkit::reports::detect {
namespace {

// Values of tables of Student's distribution.
TEST(Student, TailAgreesWithTables) {
  EXPECT_NEAR(studentTail(12.706, 1), 0.05, 1e-5);
  EXPECT_NEAR(studentTail(2.228, 10), 0.05, 1e-4);
  EXPECT_NEAR(studentTail(4.587, 10), 0.001, 1e-6);
  EXPECT_NEAR(studentTail(1.960, 1e7), 0.05, 1e-5);
  EXPECT_DOUBLE_EQ(studentTail(0, 5), 1);
  EXPECT_GT(studentTail(40, 48), 0) << "far tails must not be cut to 0";
}

TEST(Student, VarianceOfMeanGrowsWithCorrelation) {
  EXPECT_DOUBLE_EQ(varianceOfMean(4, 0), 0.25);
  EXPECT_DOUBLE_EQ(varianceOfMean(2, 0.5), 0.75);  // (1 + 1 + 2 * 0.5) / 4
}

TEST(Student, CautiousLevelNeedsEveryNight) {
  const std::vector<double> oneNormal = {0, 9, 9}, none = {9, 9, 9}, down = {-9, -9, -9};
  EXPECT_LE(cautiousLevel(oneNormal, 0, 1), 1);
  EXPECT_DOUBLE_EQ(cautiousLevel(none, 0, 1), 9);
  EXPECT_DOUBLE_EQ(cautiousLevel(down, 0, 1), -9);
}

TEST(Student, QuantileInterpolates) {
  std::vector<double> three = {3, 1, 2}, one = {4};
  EXPECT_DOUBLE_EQ(quantileInPlace(three, 0.25), 1.5);
  EXPECT_DOUBLE_EQ(quantileInPlace(one, 0.25), 4);
}

// Benjamini and Hochberg (1995), section 3.3: 15 tests, 0.05: the first four are rejected.
TEST(FalseDiscovery, ExampleOfThePaper) {
  const std::vector<double> p = {0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344,
                                 0.0459, 0.3240, 0.4262, 0.5719, 0.6528, 0.7590, 1.0};
  EXPECT_DOUBLE_EQ(falseDiscoveryCutoff(p, p.size(), 0.05), 0.05 * 4 / 15);
  EXPECT_DOUBLE_EQ(falseDiscoveryCutoff(p, 100000, 0.05), 0);
  EXPECT_DOUBLE_EQ(falseDiscoveryCutoff({}, 10, 0.05), 0);
}

std::vector<double> steps(std::initializer_list<std::pair<int, double>> parts) {
  std::vector<double> values;
  for (const auto& [count, level] : parts)
    for (int i = 0; i < count; ++i) values.push_back(level + 0.01 * ((values.size() * 7) % 5));
  return values;
}

/// The energy distance by its definition.
double slowQ(const std::vector<double>& values, size_t split) {
  const size_t n = values.size();
  double across = 0, left = 0, right = 0;
  for (size_t i = 0; i < n; ++i)
    for (size_t j = i + 1; j < n; ++j)
      (j < split ? left : i >= split ? right : across) += std::fabs(values[i] - values[j]);
  const auto a = static_cast<double>(split), b = static_cast<double>(n - split);
  return a * b / (a + b) *
         (2 * across / (a * b) - (a > 1 ? 2 * left / (a * (a - 1)) : 0) - (b > 1 ? 2 * right / (b * (b - 1)) : 0));
}

TEST(ChangePoints, BestSplitMaximisesTheEnergyDistance) {
  for (size_t seed = 0; seed < 20; ++seed) {
    std::vector<double> values;
    for (size_t i = 0; i < 25; ++i) values.push_back(static_cast<double>((i * i * 31 + seed * 17 + i) % 101));
    size_t best = 2;
    for (size_t split = 2; split + 2 <= values.size(); ++split)
      if (slowQ(values, split) > slowQ(values, best)) best = split;
    EXPECT_EQ(bestSplit(values, 2), slowQ(values, best) > 0 ? best : 0);
  }
}

TEST(ChangePoints, FindsEveryStep) {
  const auto points = changePoints(steps({{20, 0}, {15, 1}, {15, 0.5}}), {});
  ASSERT_EQ(points.size(), 2u);
  EXPECT_EQ(points[0].index, 20u);
  EXPECT_EQ(points[1].index, 35u);
  EXPECT_NEAR(points[1].after - points[1].before, -0.5, 0.01);
}

TEST(ChangePoints, OneBadNightIsNone) {
  EXPECT_TRUE(changePoints(steps({{30, 0}, {1, 5}, {10, 0}}), {}).empty());
  EXPECT_TRUE(changePoints(steps({{30, 0}, {1, 5}}), {}).empty());
}

TEST(ChangePoints, LevelsThatComeAndGoAreNone) {
  std::vector<double> values;
  for (int i = 0; i < 10; ++i)
    for (const double level : {0.0, 0.0, 1.0, 1.0}) values.push_back(level + 0.001 * i);
  EXPECT_TRUE(changePoints(values, {}).empty());
}

TEST(ChangePoints, ShortAndConstantSeriesHaveNone) {
  EXPECT_TRUE(changePoints({}, {}).empty());
  EXPECT_TRUE(changePoints(std::vector<double>{1, 2}, {}).empty());
  EXPECT_TRUE(changePoints(std::vector<double>(50, 3.0), {}).empty());
}

}  // namespace
}  // namespace opkit::reports::detect
