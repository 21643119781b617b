#include "engine/backend/vulkan/hazard_tracker.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

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

/// The documented rule, access by access.
bool anyConflict(const std::vector<ByteAccess>& since, const ByteAccess& a) {
  return std::any_of(since.begin(), since.end(), [&](const ByteAccess& b) {
    return (a.write || b.write) && a.buffer == b.buffer && std::max(a.begin, b.begin) < std::min(a.end, b.end);
  });
}

TEST(HazardTracker, RandomAccessesAnswerAsTheRuleDoes) {
  std::mt19937 random(3);
  size_t barriers = 0;
  for (int round = 0; round < 300; ++round) {
    HazardTracker tracker;
    std::vector<ByteAccess> since;
    for (int i = 0; i < 40; ++i) {
      const size_t begin = random() % 400;
      const ByteAccess access{random() % 2 ? &kA : &kB, begin, begin + random() % 12, random() % 3 == 0};
      const bool expected = anyConflict(since, access);
      ASSERT_EQ(tracker.add({&access, 1}), expected) << "round " << round << ", access " << i;
      if (expected) since.clear();
      since.push_back(access);
      barriers += expected;
    }
  }
  EXPECT_GT(barriers, 500u);
}

}  // namespace
}  // namespace opkit::vulkan
