// shaders/include/math.glsl and half.glsl compiled as C++: the stated error bounds, the special values, the rounding.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <limits>

#include "engine/tensor/half.h"

namespace opkit::glsl {

using uint = uint32_t;
float uintBitsToFloat(uint bits) { return std::bit_cast<float>(bits); }
uint floatBitsToUint(float value) { return std::bit_cast<uint>(value); }
using std::abs, std::clamp, std::floor, std::sqrt;
#define INOUT(type) type&
#define precise
#include "shaders/include/half.glsl"
#include "shaders/include/math.glsl"
#undef precise
#undef INOUT

namespace {

/// The error of `got` in units of the last place of the float nearest to `expected`.
double errorUlp(float got, double expected) {
  const auto nearest = static_cast<float>(expected);
  if (std::isnan(expected)) return std::isnan(got) ? 0 : INFINITY;
  if (std::isinf(nearest)) return got == nearest ? 0 : INFINITY;
  int exponent = 0;
  std::frexp(expected, &exponent);
  return std::fabs(static_cast<double>(got) - expected) / std::ldexp(1.0, std::max(exponent - 24, -149));
}

struct Row {
  const char* name;
  std::function<float(float)> function;
  std::function<double(double)> exact;
  double low;
  double high;
  double maxUlp;
  double maxAbsolute = 0;  // errors up to this are allowed whatever their ULP
};

class MathTest : public ::testing::TestWithParam<Row> {};

TEST_P(MathTest, StaysWithinItsStatedError) {
  const Row& row = GetParam();
  constexpr int kSamples = 200'000;
  double worst = 0;
  float worstAt = 0;
  for (int i = 0; i <= kSamples; ++i) {
    const auto x = static_cast<float>(row.low + (row.high - row.low) * i / kSamples);
    const float got = row.function(x);
    const double expected = row.exact(x);
    if (std::fabs(got - expected) <= row.maxAbsolute) continue;
    const double error = errorUlp(got, expected);
    if (error > worst) worst = error, worstAt = x;
  }
  EXPECT_LE(worst, row.maxUlp) << row.name << " at " << worstAt << ": got " << row.function(worstAt) << ", expected "
                               << row.exact(worstAt);
}

TEST_P(MathTest, KeepsNaNAndInfinities) {
  const Row& row = GetParam();
  EXPECT_TRUE(std::isnan(row.function(NAN)));
  for (const float x : {INFINITY, -INFINITY, 0.0f, -0.0f, 3e38f, -3e38f, 1e-45f}) {
    if (std::fabs(x) > 1e38f && row.maxAbsolute > 0 && std::isfinite(x)) continue;  // sin and cos: no angle left
    const float got = row.function(x);
    const auto expected = static_cast<float>(row.exact(x));
    EXPECT_EQ(std::isnan(got), std::isnan(expected)) << row.name << " of " << x;
    EXPECT_EQ(std::isinf(got), std::isinf(expected)) << row.name << " of " << x;
    if (std::isinf(expected)) {
      EXPECT_EQ(got, expected) << row.name << " of " << x;
    }
  }
}

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
double softplus(double x) { return (x < 0 ? 0 : x) + std::log1p(std::exp(-std::fabs(x))); }
double geluTanh(double x) { return x / (1 + std::exp(-1.5957691216057308 * (x + 0.044715 * x * x * x))); }
double mish(double x) { return x * std::tanh(softplus(x)); }
double swish(double x) { return x / (1 + std::exp(-x)); }
double swishSteep(double x) { return x / (1 + std::exp(-static_cast<double>(1.7f) * x)); }
double gelu(double x) { return 0.5 * x * std::erfc(-x * M_SQRT1_2); }
#define EXACT(name) [](double x) { return std::name(x); }

INSTANTIATE_TEST_SUITE_P(
    Glsl, MathTest,
    ::testing::Values(
        Row{"exp", mathExp, EXACT(exp), -104, 89, 1.2}, Row{"expNear0", mathExp, EXACT(exp), -1, 1, 1.2},
        Row{"log", mathLog, EXACT(log), 1e-30, 10, 1}, Row{"logLarge", mathLog, EXACT(log), 1, 1e30, 1},
        Row{"logTiny", mathLog, EXACT(log), 1e-45, 1e-37, 1}, Row{"log1p", mathLog1p, EXACT(log1p), -0.99, 4, 3},
        Row{"expm1", mathExpm1, EXACT(expm1), -4, 4, 4}, Row{"tanh", mathTanh, EXACT(tanh), -12, 12, 4},
        Row{"tanhNear0", mathTanh, EXACT(tanh), -1e-3, 1e-3, 1}, Row{"sigmoid", mathSigmoid, sigmoid, -80, 80, 4},
        Row{"softplus", mathSoftplus, softplus, -80, 80, 4}, Row{"erf", mathErf, EXACT(erf), -5, 5, 3},
        Row{"gelu", mathGelu, gelu, -12, 6, 6}, Row{"geluTanh", mathGeluTanh, geluTanh, -12, 11, 4},
        Row{"swish", [](float x) { return mathSwish(x, 1.0f); }, swish, -80, 25, 5},
        Row{"swishSteep", [](float x) { return mathSwish(x, 1.7f); }, swishSteep, -50, 25, 5},
        Row{"mish", mathMish, mish, -80, 25, 5}, Row{"sinh", mathSinh, EXACT(sinh), -9, 9, 4},
        Row{"sinhLarge", mathSinh, EXACT(sinh), 80, 90, 6}, Row{"cosh", mathCosh, EXACT(cosh), -9, 9, 3},
        Row{"coshLarge", mathCosh, EXACT(cosh), 80, 90, 6}, Row{"asinh", mathAsinh, EXACT(asinh), -1000, 1000, 5},
        Row{"asinhNear0", mathAsinh, EXACT(asinh), -1, 1, 5}, Row{"acosh", mathAcosh, EXACT(acosh), 0.5, 50, 5},
        Row{"atanh", mathAtanh, EXACT(atanh), -1.1, 1.1, 5}, Row{"sin", mathSin, EXACT(sin), -100, 100, 2, 1.2e-7},
        Row{"sinFar", mathSin, EXACT(sin), 1000, 8192, 2, 1.2e-7},
        Row{"cos", mathCos, EXACT(cos), -100, 100, 2, 1.2e-7},
        Row{"sinVast", mathSin, EXACT(sin), -1e6, 1e6, 2, 1.3e-7},
        Row{"sinHuge", mathSin, EXACT(sin), 1e30, 3e38, 2, 1.3e-7},
        Row{"cosVast", mathCos, EXACT(cos), -1e6, 1e6, 2, 1.3e-7},
        Row{"cosHuge", mathCos, EXACT(cos), -1e20, -1e9, 2, 1.3e-7},
        Row{"cosFar", mathCos, EXACT(cos), -8192, -1000, 2, 1.2e-7}, Row{"asin", mathAsin, EXACT(asin), -1.1, 1.1, 3},
        Row{"acos", mathAcos, EXACT(acos), -1.1, 1.1, 3}, Row{"atan", mathAtan, EXACT(atan), -30, 30, 3},
        Row{"atanFar", mathAtan, EXACT(atan), 30, 1e6, 3}),
    [](const auto& test) { return std::string(test.param.name); });

/// Every fp16 number and every tie between two of them, with the floats beside them: all places where rounding changes.
TEST(RoundToHalf, AgreesWithTheHostEverywhere) {
  const auto check = [](float x) {
    const float expected = toFloat(toHalf(static_cast<double>(x)));
    EXPECT_EQ(std::bit_cast<uint>(roundToHalf(x)), std::bit_cast<uint>(expected)) << x;
    EXPECT_EQ(std::bit_cast<uint>(roundToHalf(-x)), std::bit_cast<uint>(-expected)) << -x;
  };
  for (uint16_t bits = 0; bits < 0x7C00; ++bits) {
    const float below = toFloat(Half{bits});
    const float above = bits == 0x7BFF ? 65536.0f : toFloat(Half{static_cast<uint16_t>(bits + 1)});
    for (const float middle : {below, 0.5f * (below + above), above})
      for (const float x : {std::nextafter(middle, 0.0f), middle, std::nextafter(middle, INFINITY)}) check(x);
  }
  for (const float x : {1e-45f, 1e-40f, 1.17549435e-38f, 1e30f, 3.4e38f, INFINITY}) check(x);
  EXPECT_TRUE(std::isnan(roundToHalf(NAN)));
}

TEST(MathPow, StaysWithinThreeUlp) {
  double worst = 0;
  for (int i = 1; i < 700; ++i) {
    for (int k = -300; k <= 300; ++k) {
      const float x = std::exp(static_cast<float>(i - 350) * 0.02f), y = static_cast<float>(k) * 0.0973f;
      worst = std::max(worst, errorUlp(mathPow(x, y), std::pow(static_cast<double>(x), static_cast<double>(y))));
    }
  }
  EXPECT_LE(worst, 3);
}

TEST(MathPow, IsExactForWholeNumbersOf24Bits) {
  for (int x = -4096; x <= 4096; ++x) {
    for (int y = 0; y <= 24; ++y) {
      const double expected = std::pow(x, y);
      if (std::fabs(expected) > 0x1p24) break;
      EXPECT_EQ(mathPow(static_cast<float>(x), static_cast<float>(y)), expected) << x << "^" << y;
    }
  }
}

TEST(MathPow, SquaresAndCubesAreProducts) {
  for (int i = 1; i < 1000; ++i) {
    const float x = std::exp(static_cast<float>(i - 500) * 0.02f);
    EXPECT_EQ(mathPow(x, 2.0f), x * x) << x;
    EXPECT_EQ(mathPow(-x, 3.0f), -(x * (x * x))) << x;
  }
}

TEST(MathPow, FollowsCForSpecialValues) {
  for (const float x : {0.0f, -0.0f, 1.0f, -1.0f, 2.0f, -2.0f, 0.5f, -0.5f, INFINITY, -INFINITY, NAN}) {
    for (const float y : {0.0f, 1.0f, -1.0f, 2.0f, 3.0f, -3.0f, 0.5f, -0.5f, 1e30f, -1e30f, INFINITY, -INFINITY, NAN}) {
      const float expected = std::pow(x, y);
      EXPECT_LE(errorUlp(mathPow(x, y), expected), 3) << x << "^" << y << " gives " << mathPow(x, y);
    }
  }
}

TEST(MathFmod, IsExact) {
  for (const float x : {0.0f, 5.3f, -5.3f, 7.0f, 1e8f, -1e20f, 3e-3f, 1e38f})
    for (const float y : {1.0f, -2.1f, 0.3f, 7.0f, 1e10f, 1e-3f, INFINITY})
      EXPECT_EQ(mathFmod(x, y), std::fmod(x, y)) << x << " " << y;
  EXPECT_TRUE(std::isnan(mathFmod(1.0f, 0.0f)));
  EXPECT_TRUE(std::isnan(mathFmod(INFINITY, 2.0f)));
}

}  // namespace
}  // namespace opkit::glsl
