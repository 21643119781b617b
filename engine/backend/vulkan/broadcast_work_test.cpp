#include "engine/backend/vulkan/broadcast_work.h"

#include <gtest/gtest.h>

#include "engine/backend/device_class.h"

namespace opkit::vulkan {
namespace {

DeviceCaps deviceOf(const char* name) {
  DeviceCaps caps;
  caps.deviceClass = *deviceClassNamed(name);
  return caps;
}

BroadcastWork work(const Shape& x, const Shape& y, const char* name = "discrete", bool vectors = true) {
  return BroadcastWork::of(loopsOver(*broadcastShapes(x, y), {x, y}), deviceOf(name), vectors);
}

/// The division of shaders/include/broadcast.glsl.
uint32_t divided(uint32_t value, const Divisor& by) {
  const auto high = static_cast<uint32_t>(uint64_t{value} * static_cast<uint64_t>(by.multiplier) >> 32);
  return (high + value) >> by.shift;
}

TEST(Divisor, GivesTheQuotientOfEveryNumberBelowTwoToThe31) {
  std::vector<int64_t> divisors{1, 2, 3, 5, 7, 10, 641, 1000003, 65535, 65536, 65537, INT32_MAX - 1, INT32_MAX};
  for (int bit = 1; bit < 31; ++bit)
    for (const int64_t near : {-1, 0, 1}) divisors.push_back(std::max<int64_t>((int64_t{1} << bit) + near, 1));
  for (const int64_t d : divisors) {
    const Divisor divisor = Divisor::of(d);
    ASSERT_LE(divisor.multiplier, UINT32_MAX) << d;
    ASSERT_LT(divisor.shift, 32) << d;
    for (const int64_t quotient : {int64_t{0}, int64_t{1}, int64_t{2}, INT32_MAX / d - 1, INT32_MAX / d})
      for (const int64_t value : {quotient * d - 1, quotient * d, quotient * d + 1, (quotient + 1) * d - 1}) {
        if (value < 0 || value > INT32_MAX) continue;
        EXPECT_EQ(divided(static_cast<uint32_t>(value), divisor), value / d) << value << " / " << d;
      }
  }
}

TEST(BroadcastWork, TakesFoursWhereTheInnermostLoopHasFours) {
  EXPECT_EQ(work({7, 33}, {7, 33}).width, 4u);  // one loop, a tail
  EXPECT_EQ(work({7, 33}, {7, 33}).items, 58);
  EXPECT_EQ(work({7, 33}, {33}).width, 1u);
  EXPECT_EQ(work({7, 32}, {32}).width, 4u);
  EXPECT_EQ(work({7, 32}, {32}).items, 56);
  EXPECT_EQ(work({7, 32}, {7, 1}).width, 4u);
  EXPECT_EQ(work({7, 32}, {7, 1}).strides[1][5], 0);
  EXPECT_EQ(work({7, 32}, {32}, "discrete", false).width, 1u);
  EXPECT_EQ(work({7, 32}, {32}, "software").width, 1u);
  EXPECT_EQ(work({}, {}).items, 1);
  EXPECT_EQ(work({0, 4}, {4}).items, 0);
}

TEST(BroadcastWork, TakesRowsWhereAnOperandRepeatsOverThem) {
  EXPECT_EQ(work({4096, 1024}, {1024}).rows, 8u);
  EXPECT_EQ(work({4099, 1024}, {1024}).items, 513 * 256);
  EXPECT_EQ(work({4096, 1024}, {4096, 1}).rows, 1u);
  EXPECT_EQ(work({4096, 1024}, {4096, 1024}).rows, 1u);
  EXPECT_EQ(work({64, 1024}, {1024}).rows, 1u);  // too few to fill a device
  EXPECT_EQ(work({257, 1024}, {1024}).rows, 4u);
  EXPECT_EQ(work({3, 1024, 1024}, {3, 1, 1024}).rows, 8u);
  EXPECT_EQ(work({4096, 1024}, {1024}, "software").rows, 1u);
}

}  // namespace
}  // namespace opkit::vulkan
