#include "engine/backend/vulkan/hazard_tracker.h"

#include <gtest/gtest.h>

namespace opkit::vulkan {
namespace {

const int kA = 0;
const int kB = 0;

ByteAccess read(const int& buffer, size_t begin, size_t end) { return {&buffer, begin, end, false}; }
ByteAccess write(const int& buffer, size_t begin, size_t end) { return {&buffer, begin, end, true}; }
bool add(HazardTracker& tracker, std::vector<ByteAccess> accesses) { return tracker.add(accesses); }

TEST(HazardTracker, ReadAfterWriteNeedsABarrier) {
  HazardTracker tracker;
  EXPECT_FALSE(add(tracker, {write(kA, 0, 16)}));
  EXPECT_TRUE(add(tracker, {read(kA, 12, 20)}));
}

TEST(HazardTracker, WriteAfterReadNeedsABarrier) {
  HazardTracker tracker;
  EXPECT_FALSE(add(tracker, {read(kA, 0, 16)}));
  EXPECT_TRUE(add(tracker, {write(kA, 0, 4)}));
}

TEST(HazardTracker, WriteAfterWriteNeedsABarrier) {
  HazardTracker tracker;
  EXPECT_FALSE(add(tracker, {write(kA, 0, 16)}));
  EXPECT_TRUE(add(tracker, {write(kA, 15, 16)}));
}

TEST(HazardTracker, IndependentCommandsNeedNone) {
  HazardTracker tracker;
  EXPECT_FALSE(add(tracker, {read(kA, 0, 16), write(kB, 0, 16)}));
  EXPECT_FALSE(add(tracker, {read(kA, 0, 16), write(kB, 16, 32)}));
  EXPECT_FALSE(add(tracker, {read(kA, 8, 24), write(kA, 32, 48)}));
  EXPECT_FALSE(add(tracker, {write(kB, 20, 20)}));
}

TEST(HazardTracker, ABarrierCoversEverythingBeforeIt) {
  HazardTracker tracker;
  EXPECT_FALSE(add(tracker, {write(kA, 0, 16)}));
  EXPECT_FALSE(add(tracker, {write(kB, 0, 16)}));
  EXPECT_TRUE(add(tracker, {read(kA, 0, 16)}));
  EXPECT_FALSE(add(tracker, {read(kB, 0, 16)}));
  EXPECT_TRUE(add(tracker, {write(kA, 0, 16)}));
}

TEST(HazardTracker, DisjointCommandsNeedNoneAmongThemselves) {
  HazardTracker tracker;
  EXPECT_FALSE(add(tracker, {write(kA, 0, 64)}));
  tracker.beginDisjoint();
  EXPECT_TRUE(add(tracker, {write(kA, 0, 64)}));  // after the fill
  EXPECT_FALSE(add(tracker, {write(kA, 0, 64)}));
  tracker.endDisjoint();
  EXPECT_TRUE(add(tracker, {read(kA, 0, 4)}));
}

TEST(HazardTracker, ABarrierInsideADisjointGroupKeepsTheRest) {
  HazardTracker tracker;
  EXPECT_FALSE(add(tracker, {write(kB, 0, 64)}));
  tracker.beginDisjoint();
  EXPECT_FALSE(add(tracker, {write(kA, 0, 64)}));
  EXPECT_TRUE(add(tracker, {read(kB, 0, 4), write(kA, 0, 64)}));
  tracker.endDisjoint();
  EXPECT_TRUE(add(tracker, {read(kA, 0, 4)}));
}

}  // namespace
}  // namespace opkit::vulkan
