#include "ops/binary/binary_vectors.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace opkit::ops::binary {
namespace {

std::vector<float> powersOf(const std::vector<float>& x, const std::vector<float>& y) {
  std::vector<float> z(x.size());
  vectorMapOf("Pow")(x.data(), 1, y.data(), 1, z.data(), static_cast<int64_t>(z.size()));
  return z;
}

TEST(PowVector, IsWithinOneUlpOverAllMagnitudes) {
  std::mt19937 random(7);
  std::vector<float> x, y;
  const auto anyPositive = [&] { return std::bit_cast<float>(static_cast<uint32_t>(random() % 0x7F800000u)); };
  for (int i = 0; i < 200000; ++i) {
    x.push_back(i % 4 == 0 ? anyPositive()
                           : std::ldexp(1.0f + static_cast<float>(random() % 4096) / 4096.0f, i % 9 - 4));
    y.push_back(static_cast<float>(static_cast<int>(random() % 20001) - 10000) * 0.004f);
  }
  const std::vector<float> z = powersOf(x, y);
  for (size_t i = 0; i < z.size(); ++i) {
    const double exact = std::pow(static_cast<double>(x[i]), static_cast<double>(y[i]));
    const auto nearest = static_cast<float>(exact);
    const int32_t ulps = std::abs(std::bit_cast<int32_t>(z[i]) - std::bit_cast<int32_t>(nearest));
    ASSERT_LE(ulps, 1) << x[i] << "^" << y[i] << " = " << z[i] << ", expected " << nearest;
  }
}

TEST(PowVector, TreatsSpecialValuesAsC) {
  constexpr float kInf = std::numeric_limits<float>::infinity(), kNan = std::numeric_limits<float>::quiet_NaN();
  const float values[] = {0.0f,    -0.0f, 1.0f,  -1.0f, 2.0f, -2.0f, 0.5f,        -0.5f,        3.0f,  -3.0f,  1e-40f,
                          -1e-40f, kInf,  -kInf, kNan,  1.5f, -2.5f, 16777217.0f, -16777216.0f, 1e30f, 127.0f, -149.0f};
  std::vector<float> x, y;
  for (const float base : values)
    for (const float exponent : values) {
      x.push_back(base);
      y.push_back(exponent);
    }
  const std::vector<float> z = powersOf(x, y);
  for (size_t i = 0; i < z.size(); ++i) {
    const auto expected = static_cast<float>(std::pow(static_cast<double>(x[i]), static_cast<double>(y[i])));
    if (std::isnan(expected)) {
      EXPECT_TRUE(std::isnan(z[i])) << x[i] << "^" << y[i];
      continue;
    }
    EXPECT_FLOAT_EQ(z[i], expected) << x[i] << "^" << y[i];
    EXPECT_EQ(std::signbit(z[i]), std::signbit(expected)) << x[i] << "^" << y[i];
  }
}

}  // namespace
}  // namespace opkit::ops::binary
