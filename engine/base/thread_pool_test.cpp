#include "engine/base/thread_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <vector>

namespace opkit {
namespace {

TEST(ThreadPool, RunsEveryIndexOnce) {
  for (const size_t threads : {1, 2, 5}) {
    ThreadPool pool(threads);
    EXPECT_EQ(pool.threadCount(), threads);
    for (const size_t count : {0, 1, 2, 3, 100}) {
      std::vector<std::atomic<int>> runs(count);
      pool.parallelFor(count, [&](size_t i, size_t) { ++runs[i]; });
      for (size_t i = 0; i < count; ++i) EXPECT_EQ(runs[i], 1) << "index " << i << " of " << count;
    }
  }
}

TEST(ThreadPool, ThreadIndicesNeverOverlap) {
  ThreadPool pool(4);
  std::vector<std::atomic<int>> inside(pool.threadCount());
  std::atomic<int> overlaps = 0;
  for (int round = 0; round < 200; ++round) {
    pool.parallelFor(64, [&](size_t, size_t thread) {
      if (++inside[thread] != 1) ++overlaps;
      --inside[thread];
    });
  }
  EXPECT_EQ(overlaps, 0);
}

TEST(ThreadPool, ResultsAreVisibleAfterEachCall) {
  ThreadPool pool(3);
  std::vector<int> values(1000, 0);  // plain ints: the pool orders the accesses
  for (int round = 1; round <= 300; ++round) {
    pool.parallelFor(values.size(), [&](size_t i, size_t) { values[i] += 1; });
    for (const int value : values) ASSERT_EQ(value, round);
  }
}

TEST(ThreadPool, WorksWithoutSpinning) {
  ThreadPool pool(3, false);
  std::vector<int> values(100, 0);
  for (int round = 1; round <= 100; ++round) pool.parallelFor(values.size(), [&](size_t i, size_t) { ++values[i]; });
  for (const int value : values) EXPECT_EQ(value, 100);
}

TEST(ThreadPool, ZeroTakesOnePerCore) { EXPECT_GE(ThreadPool(0).threadCount(), 1u); }

}  // namespace
}  // namespace opkit
