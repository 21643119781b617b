#include "harness/compare/compare.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace opkit::harness {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

OracleTensor expectedOf(const std::vector<double>& values, DType dtype = DType::Float32) {
  OracleTensor tensor({dtype, {static_cast<int64_t>(values.size())}});
  tensor.real = values;
  return tensor;
}

Tensor gotOf(const std::vector<float>& values) {
  return *Tensor::fromValues({DType::Float32, {static_cast<int64_t>(values.size())}}, values);
}

Tolerance within(double bound, size_t count, double gate = 1) {
  return {std::vector<double>(count, bound), gate, false};
}

TEST(Compare, EqualPasses) {
  const Comparison c = compareTensor(expectedOf({1, -2, 3}), gotOf({1, -2, 3}), {});
  EXPECT_TRUE(c.pass) << c.reason;
  EXPECT_EQ(c.elements, 3);
  EXPECT_EQ(c.margin, 0);
}

TEST(Compare, NanNeverPassesUnlessExpected) {
  EXPECT_FALSE(compareTensor(expectedOf({1, 2}), gotOf({1, kNan}), within(1e9, 2)).pass);
  EXPECT_FALSE(compareTensor(expectedOf({1, kNan}), gotOf({1, 2}), within(1e9, 2)).pass);
  EXPECT_TRUE(compareTensor(expectedOf({1, kNan}), gotOf({1, kNan}), within(0, 2)).pass);
  const Comparison all = compareTensor(expectedOf({1, 2}), gotOf({kNan, kNan}), within(1e9, 2));
  EXPECT_EQ(all.failed, 2);
  EXPECT_EQ(all.nanGot, 2);
}

TEST(Compare, NanBoundGrantsNothing) {
  EXPECT_FALSE(compareTensor(expectedOf({1}), gotOf({1}), within(std::nan(""), 1)).pass);
}

TEST(Compare, InfinitiesMustAgreeInSign) {
  EXPECT_TRUE(compareTensor(expectedOf({kInf, -kInf}), gotOf({kInf, -kInf}), within(1, 2)).pass);
  EXPECT_FALSE(compareTensor(expectedOf({kInf}), gotOf({-kInf}), within(1, 1)).pass);
  EXPECT_FALSE(compareTensor(expectedOf({1}), gotOf({kInf}), within(kInf, 1)).pass);
  EXPECT_TRUE(compareTensor(expectedOf({1e300}), gotOf({kInf}), within(0, 1)).pass) << "rounds past the largest fp32";
}

TEST(Compare, ABoundMayReachBeyondTheLargestNumber) {
  constexpr double kLargest = std::numeric_limits<float>::max(), kUlp = 0x1p104;
  EXPECT_TRUE(compareTensor(expectedOf({kLargest}), gotOf({kInf}), within(4 * kUlp, 1)).pass);
  EXPECT_FALSE(compareTensor(expectedOf({kLargest}), gotOf({-kInf}), within(4 * kUlp, 1)).pass);
  EXPECT_FALSE(compareTensor(expectedOf({kLargest - 8 * kUlp}), gotOf({kInf}), within(4 * kUlp, 1)).pass);
  EXPECT_FALSE(compareTensor(expectedOf({kLargest}), gotOf({kInf}), within(0, 1)).pass);
}

TEST(Compare, TheSignOfZeroCountsWhereAsked) {
  Tolerance signs;
  signs.signOfZero = true;
  EXPECT_TRUE(compareTensor(expectedOf({-0.0, 0.0}), gotOf({0.0f, 0.0f}), {}).pass);
  EXPECT_TRUE(compareTensor(expectedOf({-0.0, 0.0}), gotOf({-0.0f, 0.0f}), signs).pass);
  const Comparison lost = compareTensor(expectedOf({-0.0, 0.0}), gotOf({0.0f, 0.0f}), signs);
  EXPECT_FALSE(lost.pass);
  EXPECT_EQ(lost.failed, 1);
  EXPECT_FALSE(compareTensor(expectedOf({-1e-60}), gotOf({0.0f}), signs).pass) << "it rounds to -0";
}

TEST(Compare, AWrongRowAmongMillionsFails) {
  const size_t columns = 1024, rows = 2048;
  std::vector<double> values(rows * columns);
  for (size_t i = 0; i < values.size(); ++i) values[i] = i < columns ? 1000.0 : 0.001 * static_cast<double>(i % 7);
  std::vector<float> got(values.begin(), values.end());
  for (size_t i = 0; i < columns; ++i) got[1500 * columns + i] += 0.01f;  // one small row, beside one huge row
  const Comparison c = compareTensor(expectedOf(values), gotOf(got), within(1e-3, values.size()));
  EXPECT_FALSE(c.pass);
  EXPECT_EQ(c.failed, static_cast<int64_t>(columns));
  EXPECT_LT(c.nmse, 1e-8) << "an average would not have seen it";
}

TEST(Compare, ManySmallErrorsTripTheGate) {
  const Comparison c = compareTensor(expectedOf({1, 1}), gotOf({1.5f, 1.5f}), within(1, 2, 0.1));
  EXPECT_EQ(c.failed, 0);
  EXPECT_FALSE(c.pass);
  EXPECT_NE(c.reason.find("NMSE"), std::string::npos);
  EXPECT_FALSE(compareTensor(expectedOf({0, 0}), gotOf({0.5f, 0}), within(1, 2, 0.1)).pass) << "x / 0 is not a pass";
}

TEST(Compare, ErrorsOfOneSignTripTheBias) {
  Tolerance most = within(8 * 0x1p-23, 4);
  most.biasGate = 0.1;
  const auto off = [](std::initializer_list<float> ulps) {
    std::vector<float> values;
    for (const float one : ulps) values.push_back(1 + one * 0x1p-23f);
    return gotOf(values);
  };
  EXPECT_TRUE(compareTensor(expectedOf({1, 1, 1, 1}), off({2, -2, 2, -2}), most).pass) << "of both signs";
  const Comparison up = compareTensor(expectedOf({1, 1, 1, 1}), off({1, 1, 1, 1}), most);
  EXPECT_FALSE(up.pass);
  EXPECT_EQ(up.failed, 0);
  EXPECT_EQ(up.bias, 0.125);
  EXPECT_EQ(up.reason, "the mean of the signed errors is 0.12 of the bound, its gate 0.1");
  EXPECT_FALSE(compareTensor(expectedOf({1, 1, 1, 1}), off({-1, -1, -1, -1}), most).pass);
}

TEST(Compare, SquaresBeyondTheRangeOfDoubleDoNotTripTheGate) {
  const Tensor got = *Tensor::fromValues<double>({DType::Float64, {2}}, {1e300 + 1e285, 1});
  const Comparison c = compareTensor(expectedOf({1e300, 1}, DType::Float64), got, within(1e286, 2, 1e-12));
  EXPECT_TRUE(c.pass) << c.reason;
  EXPECT_NEAR(c.nmse, 1e-30, 3e-31);  // the error is a few units in the last place
}

TEST(Compare, FindsTheWorstElement) {
  OracleTensor expected({DType::Float32, {2, 3}});
  expected.real = {1, 2, 3, 4, 5, 6};
  const Tensor got = *Tensor::fromValues({DType::Float32, {2, 3}}, std::vector<float>{1, 2.1f, 3, 4, 9, 6});
  const Comparison c = compareTensor(expected, got, within(0.5, 6));
  EXPECT_EQ(c.worst, 4);
  EXPECT_EQ(coordinates(got.desc.shape, c.worst), "[1,1]");
  EXPECT_EQ(c.expected, 5);
  EXPECT_EQ(c.got, 9);
  EXPECT_NEAR(c.margin, 8, 1e-9);
  EXPECT_EQ(c.failed, 1);
}

TEST(Compare, PoisonIsRecognised) {
  const Tensor got = gotOf({1, 0});
  std::fill(got.bytes().begin() + 4, got.bytes().end(), std::byte{0xFF});
  const Comparison c = compareTensor(expectedOf({1, 2}), got, within(1, 2));
  EXPECT_EQ(c.unwritten, 1);
  EXPECT_FALSE(c.pass);
}

TEST(Compare, ShapesAndDtypesMustMatch) {
  EXPECT_FALSE(compareTensor(expectedOf({1, 2}), gotOf({1}), within(1, 2)).pass);
  EXPECT_FALSE(compareTensor(expectedOf({1}, DType::Float16), gotOf({1}), within(1, 1)).pass);
}

TEST(Compare, IntegersAreExact) {
  OracleTensor expected({DType::Int64, {2}});
  expected.integer = {INT64_MAX, -1};
  const auto got = [](int64_t first) {
    return *Tensor::fromValues({DType::Int64, {2}}, std::vector<int64_t>{first, -1});
  };
  EXPECT_TRUE(compareTensor(expected, got(INT64_MAX), {}).pass);
  EXPECT_FALSE(compareTensor(expected, got(INT64_MAX - 1), {}).pass) << "equal as doubles";
}

TEST(Compare, SpecialsByClass) {
  const Tolerance byClass{{}, 0, true};
  EXPECT_TRUE(compareTensor(expectedOf({1, kNan, kInf}), gotOf({7, kNan, kInf}), byClass).pass);
  EXPECT_FALSE(compareTensor(expectedOf({1}), gotOf({kNan}), byClass).pass);
  EXPECT_FALSE(compareTensor(expectedOf({kNan}), gotOf({0}), byClass).pass);
}

TEST(Compare, TheHistogramCountsUlps) {
  const float one = 1.0f, off = std::nextafter(1.0f, 2.0f);
  const Comparison c = compareTensor(expectedOf({1, 1, 1, 1, 1}), gotOf({one, off, 1.5f, kNan, one}), within(1, 5));
  EXPECT_EQ(c.ulps[0], 2) << "exact";
  EXPECT_EQ(c.ulps[2], 1) << "one ULP";
  EXPECT_EQ(c.ulps.back(), 2) << "far off, and NaN";
  Comparison total = c;
  merge(total, c);
  EXPECT_EQ(total.ulps[0], 4);
}

TEST(Compare, WrongElementsAreFlagged) {
  std::vector<bool> wrong;
  compareTensor(expectedOf({1, 2, 3}), gotOf({1, 9, 3}), within(0.5, 3), &wrong);
  EXPECT_EQ(wrong, (std::vector<bool>{false, true, false}));
}

TEST(Compare, EmptyTensorsCompareEqual) { EXPECT_TRUE(compareTensor(expectedOf({}), gotOf({}), {}).pass); }

}  // namespace
}  // namespace opkit::harness
