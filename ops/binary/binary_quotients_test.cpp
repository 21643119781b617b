#include "ops/binary/binary_quotients_wide.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "ops/binary/binary_scalars.h"

namespace opkit::ops::binary {
namespace {

template <class T>
constexpr DType kTypeOf = std::is_same_v<T, int8_t>     ? DType::Int8
                          : std::is_same_v<T, uint8_t>  ? DType::UInt8
                          : std::is_same_v<T, int16_t>  ? DType::Int16
                          : std::is_same_v<T, uint16_t> ? DType::UInt16
                          : std::is_same_v<T, int32_t>  ? DType::Int32
                          : std::is_same_v<T, uint32_t> ? DType::UInt32
                          : std::is_same_v<T, int64_t>  ? DType::Int64
                                                        : DType::UInt64;

/// The scalar kernel's value, in 64 bits, then wrapped.
template <class T>
T expectedOf(const char* type, T x, T y) {
  const Scalars scalars = scalarsOf(type);
  if constexpr (std::is_same_v<T, uint64_t>)
    return scalars.unsignedInteger(x, y);
  else
    return static_cast<T>(scalars.integer(x, y));
}

template <class T>
void expectAll(const char* type, const std::vector<T>& x, const std::vector<T>& y) {
  std::vector<T> z(x.size());
  const auto count = static_cast<int64_t>(x.size());
  quotientMapOf(type, kTypeOf<T>)(x.data(), 1, y.data(), 1, z.data(), count);
  for (size_t i = 0; i < x.size(); ++i)
    ASSERT_EQ(z[i], expectedOf(type, x[i], y[i])) << type << " of " << +x[i] << " and " << +y[i];
  quotientMapOf(type, kTypeOf<T>)(x.data(), 1, y.data(), 0, z.data(), count);
  for (size_t i = 0; i < x.size(); ++i)
    ASSERT_EQ(z[i], expectedOf(type, x[i], y[0])) << type << " of " << +x[i] << " and " << +y[0];
  quotientMapOf(type, kTypeOf<T>)(x.data(), 0, y.data(), 1, z.data(), count);
  for (size_t i = 0; i < x.size(); ++i)
    ASSERT_EQ(z[i], expectedOf(type, x[0], y[i])) << type << " of " << +x[0] << " and " << +y[i];
}

template <class T>
class Quotients : public ::testing::Test {};
using Integers = ::testing::Types<int8_t, uint8_t, int16_t, uint16_t, int32_t, uint32_t, int64_t, uint64_t>;
TYPED_TEST_SUITE(Quotients, Integers);

/// All pairs of limits and of numbers around powers of two, where quotients in floating point would round.
TYPED_TEST(Quotients, AgreeWithIntegersOf64Bits) {
  using T = TypeParam;
  std::vector<T> values{0, 1, 2, 3, 7, 10, static_cast<T>(-1), static_cast<T>(-2), static_cast<T>(-7)};
  for (int bit = 3; bit < static_cast<int>(8 * sizeof(T)); ++bit)
    for (int near = -1; near <= 1; ++near)
      values.push_back(static_cast<T>((uint64_t{1} << bit) + static_cast<uint64_t>(near)));
  std::vector<T> x, y;
  for (const T a : values)
    for (const T b : values) {
      x.push_back(a);
      y.push_back(b);
    }
  for (const char* type : {"Div", "Mod", "FMod", "Pow"}) expectAll(type, x, y);
}

TYPED_TEST(Quotients, AgreeOnAnyBits) {
  using T = TypeParam;
  std::mt19937_64 random(7);
  std::vector<T> x, y;
  for (int i = 0; i < 70000; ++i) {
    x.push_back(static_cast<T>(random() >> (i % 3 * 16)));
    y.push_back(static_cast<T>(random() >> (i % 5 * 12)));
  }
  for (const char* type : {"Div", "Mod", "FMod", "Pow"}) expectAll(type, x, y);
}

template <class T>
void expectRests(DType dtype) {
  std::mt19937_64 random(7);
  constexpr T kInf = std::numeric_limits<T>::infinity(), kNan = std::numeric_limits<T>::quiet_NaN();
  std::vector<T> x{0, 5.3, -5.3, 7, 1e8, -1e20, 3, 1e-40, kInf, -kInf, kNan, 4, -0.0},
      y{1, -2.1, 0.3, 7, 1e10, 1e-3, kInf, 1e-42, 2, 3, 1, 0, 3};
  while (x.size() < 20000) {
    const T part = static_cast<T>(static_cast<double>(random() >> 11) * 0x1p-52 - 1);
    x.push_back(std::ldexp(part, static_cast<int>(random() % 60) - 20));
    y.push_back(x.size() % 3 == 0 ? x.back() / static_cast<T>(random() % 1000 + 1)
                                  : std::ldexp(part + 2, static_cast<int>(random() % 20)));
  }
  std::vector<T> z(x.size());
  quotientMapOf("FMod", dtype)(x.data(), 1, y.data(), 1, z.data(), static_cast<int64_t>(x.size()));
  for (size_t i = 0; i < x.size(); ++i) {
    const T expected = std::fmod(x[i], y[i]);
    if (std::isnan(expected)) {
      ASSERT_TRUE(std::isnan(z[i])) << x[i] << " " << y[i];
      continue;
    }
    ASSERT_EQ(z[i], expected) << x[i] << " " << y[i];
    ASSERT_EQ(std::signbit(z[i]), std::signbit(expected)) << x[i] << " " << y[i];
  }
}
TEST(FloatRests, AreExactInF32) { expectRests<float>(DType::Float32); }
TEST(FloatRests, AreExactInF64) { expectRests<double>(DType::Float64); }

}  // namespace
}  // namespace opkit::ops::binary
