#include "harness/probes/device_roof.h"

#include <gtest/gtest.h>

#include "engine/backend/device_test_support.h"

namespace opkit::harness {
namespace {

TEST(DeviceRoof, AClockThatDiffersIsNamed) {
  for (const double ratio : {0.0, 0.95, 1.0, 1.05}) EXPECT_TRUE(checkClock(ratio).isOk()) << ratio;
  for (const double ratio : {0.01, 0.1, 0.85, 1.15, 10.0, 83.3})  // 83.3: the period of a GPU read as 1, or the reverse
    EXPECT_NE(checkClock(ratio).message().find("timestampPeriod"), std::string::npos) << ratio;
  EXPECT_FALSE(checkClock(std::numeric_limits<double>::quiet_NaN()).isOk());
}

TEST(DeviceRoof, OfThisDevice) {
  const auto runtime = createRuntime("vulkan");
  OPKIT_NEEDS_DEVICE(runtime);
  const auto roof = probeDeviceRoof(**runtime);
  ASSERT_TRUE(roof) << roof.error().message();
  EXPECT_TRUE(roof->clockStatus().isOk()) << roof->clockStatus().message();
  EXPECT_GT(roof->peaks.flopsPerNs, 0.5);
  EXPECT_GT(roof->launchNs, 0);
  ASSERT_GE(roof->peaks.bandwidths.size(), 4u);
  for (size_t i = 0; i < roof->peaks.bandwidths.size(); ++i) {
    EXPECT_GT(roof->peaks.bandwidths[i].bytesPerNs, 0);
    if (i > 0) {
      EXPECT_GT(roof->peaks.bandwidths[i].bytes, roof->peaks.bandwidths[i - 1].bytes);
    }
  }
}

TEST(DeviceRoof, TheCacheIsWhereCopiesAreFast) {
  DeviceRoof roof;
  roof.peaks.bandwidths = {{1e4, 90}, {1e6, 100}, {1e7, 80}, {1e8, 50}};
  EXPECT_EQ(roof.cacheBytes(), 1e7);
  roof.peaks.bandwidths = {{1e4, 20}, {1e8, 50}};
  EXPECT_EQ(roof.cacheBytes(), 0);
}

}  // namespace
}  // namespace opkit::harness
