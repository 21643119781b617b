#include "engine/tools/run_values.h"

#include <gtest/gtest.h>

#include <cmath>

#include "engine/tools/cli.h"

namespace opkit {
namespace {

Tensor floats(const std::vector<float>& values) {
  return *Tensor::fromValues<float>({DType::Float32, {static_cast<int64_t>(values.size())}}, values);
}

TEST(RunValues, FillsEveryDType) {
  for (int number = 1; number <= 12; ++number) {
    const Tensor tensor = *Tensor::onHost({static_cast<DType>(number), {200}});
    fillRandom(tensor, 3);
    const TensorSummary random = summarize(tensor);
    EXPECT_GE(random.minimum, -1.0);
    EXPECT_LE(random.maximum, 10.0);
    EXPECT_LT(random.minimum, random.maximum);
    fillRamp(tensor);
    EXPECT_EQ(summarize(tensor).minimum, 0.0);
    EXPECT_GT(summarize(tensor).maximum, 0.9);
  }
}

TEST(RunValues, SameSeedSameValues) {
  const Tensor a = *Tensor::onHost({DType::Float32, {50}}), b = *Tensor::onHost({DType::Float32, {50}});
  fillRandom(a, 1);
  fillRandom(b, 1);
  EXPECT_TRUE(compareTensors(a, b, 0, 0).passed);
  fillRandom(b, 2);
  EXPECT_FALSE(compareTensors(a, b, 1e-3, 1e-3).passed);
}

TEST(RunValues, ComparisonFailsUnlessWithinTolerance) {
  EXPECT_TRUE(compareTensors(floats({1.0f, 2.0f}), floats({1.0f, 2.1f}), 0.06, 0).passed);
  EXPECT_FALSE(compareTensors(floats({1.0f, 2.0f}), floats({1.0f, 2.1f}), 0.04, 0).passed);
  EXPECT_FALSE(compareTensors(floats({NAN}), floats({1.0f}), 1e9, 1e9).passed);
  EXPECT_FALSE(compareTensors(floats({1.0f}), floats({NAN}), 1e9, 1e9).passed);
  EXPECT_TRUE(compareTensors(floats({NAN, INFINITY}), floats({NAN, INFINITY}), 0, 0).passed);
  EXPECT_FALSE(compareTensors(floats({-INFINITY}), floats({INFINITY}), 0, 0).passed);
  EXPECT_FALSE(compareTensors(floats({3.0f}), floats({INFINITY}), 1e-3, 0).passed);
  EXPECT_FALSE(compareTensors(floats({1.0f}), floats({1.0f, 1.0f}), 0, 0).passed);
  EXPECT_TRUE(compareTensors(floats({}), floats({}), 0, 0).passed);
}

TEST(Cli, ParsesShapesAndPairs) {
  EXPECT_EQ(*cli::parseShape("1x3x256"), (Shape{1, 3, 256}));
  EXPECT_EQ(*cli::parseShape(""), Shape());
  for (const char* bad : {"x", "1x", "1x-2", "1xx2", "a", "1 x 2"}) EXPECT_FALSE(cli::parseShape(bad)) << bad;
  const auto pair = cli::parseNamedValue("--input", "name=a=b");
  EXPECT_EQ(pair->name, "name");
  EXPECT_EQ(pair->value, "a=b");
  EXPECT_FALSE(cli::parseNamedValue("--input", "=a"));
}

TEST(Cli, FormatsTimesWithAFittingUnit) {
  EXPECT_EQ(cli::formatNs(950), "950 ns");
  EXPECT_EQ(cli::formatNs(1234), "1.23 us");
  EXPECT_EQ(cli::formatNs(45.6e6), "45.6 ms");
  EXPECT_EQ(cli::formatNs(7.5e12), "7500 s");
}

}  // namespace
}  // namespace opkit
