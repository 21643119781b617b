#include "ops/unary/unary_double_vectors.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "ops/unary/unary.h"
#include "ops/unary/unary_scalars.h"

namespace opkit::ops::unary {
namespace {

const char* const kTypes[] = {"Exp",   "Sigmoid", "Softplus",  "Elu",       "Selu",   "Celu", "Mish",
                              "Erf",   "Gelu",    "GeluTanh",  "Tanh",      "Sinh",   "Cosh", "Asinh",
                              "Acosh", "Atanh",   "HardSwish", "LeakyRelu", "Shrink", "Sin",  "Cos",
                              "Tan",   "Asin",    "Acos",      "Atan"};

std::vector<double> mapped(const char* type, const std::vector<double>& x) {
  std::vector<double> y(x.size());
  const Function& function = functionOf(type);
  doubleMapOf(type)(x.data(), y.data(), static_cast<int64_t>(x.size()), function.alpha, function.beta);
  return y;
}
double expectedOf(const char* type, double x) {
  const Function& function = functionOf(type);
  return scalarsOf(type).real(x, function.alpha, function.beta);
}

TEST(DoubleVectors, StayWithinEightUlp) {
  std::mt19937_64 random(7);
  for (const char* type : kTypes) {
    std::vector<double> x;
    for (int i = 0; i < 60000; ++i) {
      const double part = static_cast<double>(random() >> 11) * 0x1p-52 - 1;
      x.push_back(i % 2 == 0 ? part * std::ldexp(1.0, static_cast<int>(random() % 40) - 30) : part * 8);
    }
    const std::vector<double> y = mapped(type, x);
    const double floor = functionOf(type).errorFloor * 0x1p-29;
    for (size_t i = 0; i < x.size(); ++i) {
      const double expected = expectedOf(type, x[i]), error = std::fabs(y[i] - expected);
      if (std::isnan(expected)) {
        ASSERT_TRUE(std::isnan(y[i])) << type << " of " << x[i];
        continue;
      }
      const double ulp = std::ldexp(1.0, std::max(std::ilogb(expected) - 52, -1074));
      ASSERT_LE(error, std::max(8 * ulp, floor))
          << type << " of " << x[i] << " = " << y[i] << ", expected " << expected;
    }
  }
}

TEST(DoubleVectors, TreatSpecialValuesAsTheScalarFunctions) {
  constexpr double kInf = std::numeric_limits<double>::infinity(), kNan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<double> x{kInf, -kInf, kNan, 0.0, -0.0, 1.0, -1.0, 1e300, -1e300, 1e-310, -1e-310, 720, -720};
  for (const char* type : kTypes) {
    for (const double value : x) {
      const double expected = expectedOf(type, value), got = mapped(type, {value})[0];
      if (std::isnan(expected)) {
        EXPECT_TRUE(std::isnan(got)) << type << " of " << value;
        continue;
      }
      EXPECT_DOUBLE_EQ(got, expected) << type << " of " << value;
      EXPECT_EQ(std::signbit(got), std::signbit(expected)) << type << " of " << value;
    }
  }
}

TEST(DoubleVectors, WriteInPlaceAndNothingBeyond) {
  std::vector<double> x(21, 0.5);
  x[20] = 77;
  doubleMapOf("Exp")(x.data(), x.data(), 20, 0, 0);
  for (size_t i = 0; i < 20; ++i) EXPECT_NEAR(x[i], std::exp(0.5), 1e-15) << i;
  EXPECT_EQ(x[20], 77);
}

}  // namespace
}  // namespace opkit::ops::unary
