#include "engine/op/scatter.h"

#include <gtest/gtest.h>

#include <cmath>

#include "engine/backend/combined.h"
namespace opkit {
namespace {

TEST(Combine, MergesTwoValues) {
  EXPECT_EQ(combined<int8_t>(Combine::Add, 127, 1), -128);
  EXPECT_EQ(combined<float>(Combine::Multiply, 3, -2), -6);
  for (const Combine combine : {Combine::Maximum, Combine::Minimum}) {
    EXPECT_TRUE(std::isnan(combined<float>(combine, NAN, 1)));
    EXPECT_TRUE(std::isnan(combined<float>(combine, 1, NAN)));
  }
  EXPECT_EQ(combined(Combine::Maximum, 2, 3), 3);
  EXPECT_EQ(combined(Combine::Minimum, 2, 3), 2);
}

TEST(ScatterAt, TellsTheHarnessWhatWasRounded) {
  OracleTensor data({DType::Float32, {3}}), updates({DType::Float32, {3}}), y({DType::Float32, {3}});
  data.real = {10, 20, 30};
  updates.real = {-2, 5, 7};
  const OracleTensor* inputs[] = {&data, nullptr, &updates};
  const OracleArgs args{{}, inputs, {&y, 1}};
  ASSERT_TRUE(scatterAt(Combine::Add, {1, 0, 1}, args).isOk());
  EXPECT_EQ(y.real, (std::vector<double>{15, 25, 30}));
  EXPECT_EQ(y.magnitude, (std::vector<double>{15, 29, 0})) << "nothing meets the last";
  EXPECT_EQ(y.terms, 3);
  ASSERT_TRUE(scatterAt(Combine::Replace, {2, 2, 2}, args).isOk());
  EXPECT_EQ(y.real, (std::vector<double>{10, 20, 7}));
  EXPECT_EQ(y.magnitude, (std::vector<double>{0, 0, 0}));
  ASSERT_TRUE(scatterAt(Combine::Multiply, {0, 0, 0}, args).isOk());
  EXPECT_EQ(y.real[0], -700);
  EXPECT_EQ(y.magnitude[0], 700);
}

TEST(CheckCombine, RefusesWhatDoesNotFit) {
  const TensorDesc data{DType::Bool, {3}}, other{DType::Float32, {3}};
  const auto message = [](Combine combine, const TensorDesc& x, const TensorDesc& updates) {
    const TensorDesc* inputs[] = {&x, &x, &updates};
    return checkCombine(combine, {{}, inputs, {}}).message();
  };
  EXPECT_EQ(message(Combine::Replace, data, data), "");
  EXPECT_EQ(message(Combine::Maximum, data, data), "");
  EXPECT_EQ(message(Combine::Replace, data, other), "updates must be bool like the data, got f32");
  EXPECT_EQ(message(static_cast<Combine>(5), data, data), "reduction must be in [0, 4], got 5");
}

}  // namespace
}  // namespace opkit
