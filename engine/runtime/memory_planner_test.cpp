#include "engine/runtime/memory_planner.h"

#include <gtest/gtest.h>

#include <random>

namespace opkit {
namespace {

/// Tensors that live together do not overlap.
void expectSound(const MemoryPlan& plan, const std::vector<Lifetime>& lifetimes) {
  EXPECT_GE(plan.peakBytes, plan.lowerBoundBytes);
  for (size_t a = 0; a < lifetimes.size(); ++a) {
    EXPECT_EQ(plan.offsets[a] % 64, 0u);
    EXPECT_LE(plan.offsets[a] + lifetimes[a].sizeBytes, plan.peakBytes);
    for (size_t b = 0; b < a; ++b) {
      const bool together = lifetimes[a].first <= lifetimes[b].last && lifetimes[b].first <= lifetimes[a].last;
      const bool apart = plan.offsets[a] + lifetimes[a].sizeBytes <= plan.offsets[b] ||
                         plan.offsets[b] + lifetimes[b].sizeBytes <= plan.offsets[a];
      EXPECT_TRUE(!together || apart) << a << " and " << b;
    }
  }
}

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
    expectSound(plan, lifetimes);
    EXPECT_LE(plan.peakBytes, plan.lowerBoundBytes * 3 / 2);
  }
}

TEST(MemoryPlanner, LongAndShortLivesTogetherNeverOverlap) {
  std::mt19937 random(11);
  for (int round = 0; round < 100; ++round) {
    std::vector<Lifetime> lifetimes;
    for (int i = 0; i < 30; ++i) {
      const size_t first = random() % 40, kind = random() % 4;
      if (kind == 0)
        lifetimes.push_back({random() % 1000, 0, 50});
      else
        lifetimes.push_back({random() % 1000, first, kind == 1 ? 50 : first + random() % 3});
    }
    expectSound(planMemory(lifetimes, 64), lifetimes);
  }
}

/// Steps of a chain with tensors of three sizes, each read by the next step and by the one `reach` steps later.
std::vector<Lifetime> chainOf(size_t steps, size_t reach) {
  std::vector<Lifetime> lifetimes;
  for (size_t i = 0; i < steps; ++i) lifetimes.push_back({256 * (1 + i * 7 % 3), i, std::min(i + reach, steps)});
  return lifetimes;
}

/// Each step of the first half is read again in the second, in reverse: half of all tensors live at once.
std::vector<Lifetime> thereAndBack(size_t steps) {
  std::vector<Lifetime> lifetimes;
  for (size_t i = 0; i < steps; ++i) lifetimes.push_back({256 * (1 + i * 7 % 3), i, i < steps / 2 ? steps - i : i + 1});
  return lifetimes;
}

TEST(MemoryPlanner, TheWorkGrowsAsTheModelDoes) {
  for (const size_t reach : {size_t{1}, size_t{5}}) {
    const size_t small = planMemory(chainOf(2500, reach), 64).meetings;
    const size_t large = planMemory(chainOf(10000, reach), 64).meetings;
    EXPECT_LE(large, 4 * small + 1000) << "reach " << reach;
  }
  for (const size_t steps : {size_t{1000}, size_t{20000}}) {
    const std::vector<Lifetime> lifetimes = thereAndBack(steps);
    const MemoryPlan plan = planMemory(lifetimes, 64);
    EXPECT_LE(plan.meetings, size_t{40} << 20) << steps;
    EXPECT_LE(plan.peakBytes, plan.lowerBoundBytes * 11 / 10) << steps;
  }
  std::vector<Lifetime> kept(100000, {100, 0, 100000});  // a session that keeps its tensors
  kept.push_back({100, 0, 99999});
  const MemoryPlan plan = planMemory(kept, 64);
  EXPECT_EQ(plan.meetings, 0u);
  EXPECT_EQ(plan.peakBytes, plan.lowerBoundBytes);
}

}  // namespace
}  // namespace opkit
