#include "harness/compare/tolerance.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include <cmath>

#include "harness/compare/compare.h"

namespace opkit::harness {
namespace {

constexpr double kU = 0x1p-24;

OpDef cardOf(NumericClass numeric) {
  OpDef def;
  def.numeric = numeric;
  return def;
}

OracleTensor one(double value, DType dtype = DType::Float32, double magnitude = -1, int64_t terms = 1) {
  OracleTensor tensor({dtype, {1}});
  tensor.real = {value};
  if (magnitude >= 0) tensor.magnitude = {magnitude};
  tensor.terms = terms;
  return tensor;
}

double boundOf(NumericClass numeric, const OracleTensor& y, Lane lane = Lane::Normal, double scale = 1) {
  return toleranceOf(cardOf(numeric), lane, y, scale).bound.at(0);
}

TEST(Tolerance, UlpIsTheSpacing) {
  EXPECT_EQ(ulpOf(DType::Float32, 1.0), 0x1p-23);
  EXPECT_EQ(ulpOf(DType::Float32, -1.5), 0x1p-23);
  EXPECT_EQ(ulpOf(DType::Float32, 0), 0x1p-149);
  EXPECT_EQ(ulpOf(DType::Float32, 0x1p-140), 0x1p-149);
  EXPECT_EQ(ulpOf(DType::Float16, 1.0), 0x1p-10);
  EXPECT_EQ(ulpOf(DType::Float16, 0x1p-20), 0x1p-24);
  EXPECT_EQ(ulpOf(DType::Float64, 2.0), 0x1p-51);
}

TEST(Tolerance, FormulasOfTheTable) {
  EXPECT_EQ(boundOf(NumericClass::OneRounding, one(3)), 0x1p-22);
  EXPECT_EQ(boundOf(NumericClass::FewRoundings, one(1)), 3 * 0x1p-23);
  EXPECT_DOUBLE_EQ(boundOf(NumericClass::Products, one(-2, DType::Float32, 50, 9)), kU * 50 * 9 + 2 * kU * 2);
  EXPECT_DOUBLE_EQ(boundOf(NumericClass::Products, one(-2, DType::Float32, 50, 100)), kU * 50 * 40 + 2 * kU * 2);
  EXPECT_DOUBLE_EQ(boundOf(NumericClass::Sum, one(1, DType::Float32, 7, 16)), 4 * kU * 4 * 7);
  EXPECT_DOUBLE_EQ(boundOf(NumericClass::Norm, one(1, DType::Float32, 3, 4)), 8 * kU * 2 * 3 + 4 * 0x1p-23);
  const double p = std::exp(-2.0);
  EXPECT_NEAR(boundOf(NumericClass::Softmax, one(p, DType::Float32, -1, 9)), p * (6 + 4 * 2 + 3) * 0x1p-23, 1e-15);
}

TEST(Tolerance, ResultsBelowTheNormalNumbersMayBeFlushed) {
  for (const NumericClass numeric : {NumericClass::Sum, NumericClass::Products}) {
    EXPECT_GE(boundOf(numeric, one(2.9e-60)), 0x1p-126) << "f32 has no such number";
    EXPECT_LT(boundOf(numeric, one(0x1p-126)), 0x1p-140) << "a normal number";
    EXPECT_LT(boundOf(numeric, one(2.9e-60, DType::Float64)), 1e-70);
    EXPECT_EQ(boundOf(numeric, one(0)), 0) << "an exact zero";
  }
}

TEST(Tolerance, TranscendentalIsRelativeAndNeverWiderThanTheTable) {
  EXPECT_DOUBLE_EQ(boundOf(NumericClass::Transcendental, one(1)), 8 * 0x1p-23);
  EXPECT_DOUBLE_EQ(boundOf(NumericClass::Transcendental, one(0x1p-30)), 8 * 0x1p-53);
  EXPECT_DOUBLE_EQ(boundOf(NumericClass::Transcendental, one(8)), 4 * 0x1p-20 + 5e-7);
  EXPECT_DOUBLE_EQ(boundOf(NumericClass::Transcendental, one(0x1p-130)), 0x1p-126 + 8 * 0x1p-149);
  EXPECT_DOUBLE_EQ(boundOf(NumericClass::Transcendental, one(0x1p600, DType::Float64)), 4 * 0x1p548 + 5e-7 * 0x1p-29);
  OpDef sine = cardOf(NumericClass::Transcendental);
  sine.errorFloor = 0x1p-32;
  EXPECT_DOUBLE_EQ(toleranceOf(sine, Lane::Normal, one(1e-12)).bound.at(0), 4 * ulpOf(DType::Float32, 1e-12) + 0x1p-32);
  EXPECT_DOUBLE_EQ(toleranceOf(sine, Lane::Normal, one(1)).bound.at(0), 8 * 0x1p-23);
}

/// Values in [1/2, 2), rounded, with `ulps` added to each.
Comparison biased(NumericClass numeric, double ulps, size_t count = 512) {
  OracleTensor expected({DType::Float32, {static_cast<int64_t>(count)}});
  std::vector<float> got;
  for (size_t i = 0; i < count; ++i) {
    expected.real.at(i) = std::exp2(2.0 * static_cast<double>(i) / static_cast<double>(count) - 1);
    got.push_back(static_cast<float>(expected.real[i] + ulps * ulpOf(DType::Float32, expected.real[i])));
  }
  const Tensor tensor = *Tensor::fromValues(expected.desc, got);
  return compareTensor(expected, tensor, toleranceOf(cardOf(numeric), Lane::Normal, expected));
}

TEST(Tolerance, ABiasOfOneUlpIsNoRounding) {
  EXPECT_TRUE(biased(NumericClass::Transcendental, 0).pass);
  for (const double ulps : {1, -1}) {
    EXPECT_FALSE(biased(NumericClass::Transcendental, ulps).pass);
    EXPECT_EQ(biased(NumericClass::Transcendental, ulps).failed, 0) << "no element is outside its bound";
  }
  EXPECT_TRUE(biased(NumericClass::Transcendental, 1, 200).pass) << "few elements do not average";
}

TEST(Tolerance, TheGateAllowsWhatRoundingCauses) {
  const auto gateOf = [](NumericClass numeric, OracleTensor y) {
    return toleranceOf(cardOf(numeric), Lane::Normal, y).nmseGate;
  };
  // One element may use all of its bound: a sum that cancels.
  const OracleTensor cancelled = one(1e-6, DType::Float32, 1, 4);
  EXPECT_GE(gateOf(NumericClass::Sum, cancelled), std::pow(boundOf(NumericClass::Sum, cancelled) / 1e-6, 2));
  // Many use a seventh of theirs on average.
  OracleTensor many({DType::Float32, {1000}});
  many.real.assign(1000, 1e-6);
  many.magnitude.assign(1000, 1);
  many.terms = 4;
  EXPECT_LT(gateOf(NumericClass::Sum, many), std::pow(boundOf(NumericClass::Sum, many) / 1e-6, 2) / 40);
  // Half an ULP of a denormal of fp16 is a large part of it.
  EXPECT_GE(gateOf(NumericClass::OneRounding, one(0x1.8p-24, DType::Float16)), 1.0 / 9);
  EXPECT_EQ(gateOf(NumericClass::OneRounding, one(1, DType::Float32)), 1e-13);
}

TEST(Tolerance, ClassesThatRoundHaveNoExactLane) {
  EXPECT_EQ(boundOf(NumericClass::Softmax, one(1), Lane::Exact), boundOf(NumericClass::Softmax, one(1)));
  EXPECT_EQ(boundOf(NumericClass::FewRoundings, one(1), Lane::Exact), 3 * 0x1p-23);
}

TEST(Tolerance, HalfStorageAddsOneHalfUlp) {
  EXPECT_DOUBLE_EQ(boundOf(NumericClass::OneRounding, one(1, DType::Float16)), 0x1p-23 + 0x1p-10);
  OracleTensor many({DType::Float16, {100}});
  many.real.assign(100, 1);
  EXPECT_EQ(toleranceOf(cardOf(NumericClass::Products), Lane::Normal, many).nmseGate, 5e-7);
}

TEST(Tolerance, GatesOfTheTable) {
  const auto gateOf = [](NumericClass numeric, int64_t terms = 1) {
    return toleranceOf(cardOf(numeric), Lane::Normal, one(1, DType::Float32, -1, terms)).nmseGate;
  };
  EXPECT_EQ(gateOf(NumericClass::OneRounding), 1e-13);
  EXPECT_EQ(gateOf(NumericClass::FewRoundings), 1e-12);
  EXPECT_EQ(gateOf(NumericClass::Products), 1e-10);
  EXPECT_DOUBLE_EQ(gateOf(NumericClass::Sum, 50), 50e-12);
  EXPECT_EQ(gateOf(NumericClass::Softmax), 1e-11);
  EXPECT_EQ(gateOf(NumericClass::Norm), 1e-11);
  OracleTensor many({DType::Float32, {1000}});  // one element may use all of its bound
  many.real.assign(1000, 1);
  EXPECT_EQ(toleranceOf(cardOf(NumericClass::Transcendental), Lane::Normal, many).nmseGate, 1e-13);
  EXPECT_EQ(toleranceOf(cardOf(NumericClass::Exact), Lane::Normal, one(1)).nmseGate, 0);
}

TEST(Tolerance, ExactClassesGrantNothing) {
  EXPECT_TRUE(toleranceOf(cardOf(NumericClass::Exact), Lane::Normal, one(1)).bound.empty());
  EXPECT_TRUE(toleranceOf(cardOf(NumericClass::Cast), Lane::Normal, one(1, DType::Float16)).bound.empty());
  OracleTensor integers({DType::Int32, {1}});
  integers.integer = {3};
  EXPECT_TRUE(toleranceOf(cardOf(NumericClass::Products), Lane::Normal, integers).bound.empty());
}

TEST(Tolerance, ExactLaneIsZeroWhereRepresentable) {
  EXPECT_EQ(boundOf(NumericClass::Products, one(1234, DType::Float32, 9999, 100), Lane::Exact), 0);
  EXPECT_EQ(boundOf(NumericClass::Sum, one(1.0 / 3), Lane::Exact), 0x1p-25);
}

TEST(Tolerance, ScaleWidensBoundAndGate) {
  EXPECT_EQ(boundOf(NumericClass::OneRounding, one(1), Lane::Normal, 4), 4 * 0x1p-23);
  EXPECT_DOUBLE_EQ(toleranceOf(cardOf(NumericClass::OneRounding), Lane::Normal, one(1), 4).nmseGate, 16e-13);
}

TEST(Tolerance, SpecialsCompareByClass) {
  EXPECT_TRUE(toleranceOf(cardOf(NumericClass::Softmax), Lane::Specials, one(1)).byClass);
}

TEST(Tolerance, FormulasAreThoseOfThePage) {
  std::ostringstream text;
  text << std::ifstream(OPKIT_SOURCE_DIR "/docs/numerics.md").rdbuf();
  std::string page = text.str();
  for (size_t at; (at = page.find("\\|")) != std::string::npos;) page.erase(at, 1);
  for (int i = 0; i <= static_cast<int>(NumericClass::Cast); ++i) {
    const ErrorBound bound = errorBoundOf(static_cast<NumericClass>(i));
    const size_t row = page.find(std::string("`") + bound.name + "`");
    ASSERT_NE(row, std::string::npos) << bound.name;
    const std::string line = page.substr(row, page.find('\n', row) - row);
    EXPECT_NE(line.find(std::string("| ") + bound.formula + " |"), std::string::npos) << line;
  }
}

}  // namespace
}  // namespace opkit::harness
