#include "engine/runtime/memory_planner.h"

#include <gtest/gtest.h>

#include <random>

namespace opkit {
namespace {

TEST(MemoryPlanner, NothingNeedsNothing) {
  const MemoryPlan plan = planMemory({}, 64);
  EXPECT_EQ(plan.peakBytes, 0u);
  EXPECT_EQ(plan.lowerBoundBytes, 0u);
}

TEST(MemoryPlanner, DisjointLifetimesShareMemory) {
  const MemoryPlan plan = planMemory({{100, 0, 1}, {100, 1, 2}, {100, 2, 3}}, 64);
  EXPECT_EQ(plan.peakBytes, 256u);  // two at a time, 100 rounded up to 128
  EXPECT_EQ(plan.lowerBoundBytes, 256u);
  EXPECT_EQ(plan.offsets[0], plan.offsets[2]);
}

TEST(MemoryPlanner, RandomPlansNeverOverlapAndStayNearTheBound) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    std::vector<Lifetime> lifetimes;
    for (int i = 0; i < 40; ++i) {
      const size_t first = random() % 50;
      lifetimes.push_back({random() % 10000, first, first + random() % 6});
    }
    const MemoryPlan plan = planMemory(lifetimes, 64);
    EXPECT_GE(plan.peakBytes, plan.lowerBoundBytes);
    EXPECT_LE(plan.peakBytes, plan.lowerBoundBytes * 3 / 2);
    for (size_t a = 0; a < lifetimes.size(); ++a) {
      EXPECT_EQ(plan.offsets[a] % 64, 0u);
      EXPECT_LE(plan.offsets[a] + lifetimes[a].sizeBytes, plan.peakBytes);
      for (size_t b = 0; b < a; ++b) {
        const bool together = lifetimes[a].first <= lifetimes[b].last && lifetimes[b].first <= lifetimes[a].last;
        const bool apart = plan.offsets[a] + lifetimes[a].sizeBytes <= plan.offsets[b] ||
                           plan.offsets[b] + lifetimes[b].sizeBytes <= plan.offsets[a];
        EXPECT_TRUE(!together || apart) << "round " << round << ": " << a << " and " << b;
      }
    }
  }
}

}  // namespace
}  // namespace opkit
