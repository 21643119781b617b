// shaders/include/rounded.glsl compiled as C++: products, quotients and roundings equal those of the host, bit for bit.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <random>

#include "engine/tensor/float_format.h"

namespace opkit::glsl {

using uint = uint32_t;
inline int findMSB(uint value) { return 31 - std::countl_zero(value); }
inline void umulExtended(uint a, uint b, uint& high, uint& low) {
  const uint64_t product = uint64_t{a} * b;
  high = static_cast<uint>(product >> 32);
  low = static_cast<uint>(product);
}
using std::clamp, std::floor, std::max;
#include "shaders/include/rounded.glsl"

namespace {

/// Bits of floats: all exponents, few fractions that make ties, and the special values.
std::vector<uint> samples() {
  std::vector<uint> bits = {0, 1, 2, 0x7FFFFF, 0x800000, 0x7F7FFFFF, kInfinityBits, kNaNBits, 0x3F800000, 0x3F000000};
  std::mt19937 random(7);
  for (int i = 0; i < 3000; ++i) {
    const uint fraction = i % 3 == 0   ? random() & 0x7FFFFF
                          : i % 3 == 1 ? random() & 0x7FF000
                                       : 0x7FFFFF >> random() % 23;
    bits.push_back((random() % 256) << 23 | fraction);
    bits.push_back((100 + random() % 56) << 23 | fraction);
  }
  const size_t positive = bits.size();
  for (size_t i = 0; i < positive; ++i) bits.push_back(bits[i] | 0x80000000u);
  return bits;
}

void expectBits(uint got, float expected, uint a, uint b) {
  if (std::isnan(expected))
    ASSERT_GT(got & 0x7FFFFFFFu, kInfinityBits) << a << " " << b;
  else
    ASSERT_EQ(got, std::bit_cast<uint>(expected)) << a << " " << b;
}

TEST(Rounded, ProductsAndQuotientsAreTheHosts) {
  const std::vector<uint> bits = samples();
  std::mt19937 random(11);
  for (const uint a : bits)
    for (int i = 0; i < 300; ++i) {
      const uint b = bits[random() % bits.size()];
      expectBits(productBits(a, b), std::bit_cast<float>(a) * std::bit_cast<float>(b), a, b);
      expectBits(quotientBits(a, b), std::bit_cast<float>(a) / std::bit_cast<float>(b), a, b);
    }
}

TEST(Rounded, WholeNumbersAndFloats) {
  for (const uint bits : samples()) {
    const auto value = std::bit_cast<float>(bits);
    const float whole = std::nearbyint(value) + 3.0f;
    const int expected = std::isnan(value) ? -100 : static_cast<int>(std::clamp(whole, -100.0f, 100.0f));
    ASSERT_EQ(wholeWithin(bits, 3, -100, 100), expected) << value;
    if (!std::isnan(value)) {
      const FloatFormat& brain = formatOf(DType::BFloat16);
      ASSERT_EQ(brainBits(bits) >> 16, encode(brain, value)) << value;
    }
    const auto integer = static_cast<int32_t>(bits);
    for (const int32_t i : {integer, integer >> 7, integer >> 20})
      ASSERT_EQ(floatBitsOf(i), std::bit_cast<uint>(static_cast<float>(i))) << i;
  }
  for (const float tie : {0.5f, 1.5f, 2.5f, -0.5f, -1.5f, 99.5f, 524287.5f})
    ASSERT_EQ(wholeWithin(std::bit_cast<uint>(tie), 0, -600000, 600000), static_cast<int>(std::nearbyint(tie))) << tie;
}

}  // namespace
}  // namespace opkit::glsl
