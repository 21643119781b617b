#include "engine/base/narrow.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>

namespace opkit {
namespace {

TEST(Narrow, KeepsValuesThatFit) {
  static_assert(narrow<int32_t>(int64_t{-5}) == -5);
  static_assert(narrow<size_t>(int64_t{7}) == 7);
  EXPECT_EQ(narrow<int32_t>(int64_t{std::numeric_limits<int32_t>::min()}), std::numeric_limits<int32_t>::min());
  EXPECT_EQ(narrow<uint32_t>(int64_t{std::numeric_limits<uint32_t>::max()}), std::numeric_limits<uint32_t>::max());
  EXPECT_EQ(narrow<uint8_t>(size_t{255}), 255);
}

TEST(NarrowDeathTest, StopsAtALostValueOrSign) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const std::string message = "narrow.h:[0-9]+: check failed";
  EXPECT_DEATH(static_cast<void>(narrow<int32_t>(int64_t{1} << 31)), message);
  EXPECT_DEATH(static_cast<void>(narrow<int32_t>(-(int64_t{1} << 31) - 1)), message);
  EXPECT_DEATH(static_cast<void>(narrow<uint8_t>(256)), message);
  EXPECT_DEATH(static_cast<void>(narrow<size_t>(int64_t{-1})), message);
  EXPECT_DEATH(static_cast<void>(narrow<int64_t>(uint64_t{1} << 63)), message);
}

}  // namespace
}  // namespace opkit
