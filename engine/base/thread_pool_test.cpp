#include "engine/base/thread_pool.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <vector>

#include "engine/base/make_thread_pool.h"
#include "engine/base/pause_midway.h"

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
  ThreadPool pool(3, ThreadManner::Sleeps);
  std::vector<int> values(100, 0);
  for (int round = 1; round <= 100; ++round) pool.parallelFor(values.size(), [&](size_t i, size_t) { ++values[i]; });
  for (const int value : values) EXPECT_EQ(value, 100);
}

TEST(ThreadPool, AHostilePoolRunsEveryIndexOnceInAnotherOrder) {
  for (const size_t threads : {2, 3, 7}) {
    ThreadPool pool(threads, ThreadManner::Hostile);
    EXPECT_TRUE(pool.splitsAll());
    for (const size_t count : {2, 3, 5, 64, 1000}) {
      std::vector<size_t> firstRun, secondRun;
      for (std::vector<size_t>* order : {&firstRun, &secondRun}) {
        std::vector<std::atomic<int>> runs(count);
        std::atomic<size_t> position = 0;
        order->resize(count);
        pool.parallelFor(count, [&](size_t i, size_t) {
          ++runs[i];
          (*order)[position++] = i;
        });
        for (size_t i = 0; i < count; ++i) ASSERT_EQ(runs[i], 1) << "index " << i << " of " << count;
      }
      if (count >= 64) {
        EXPECT_NE(firstRun, secondRun);
      }
    }
  }
  EXPECT_FALSE(ThreadPool(3).splitsAll());
}

/// Each body keeps its number in memory that all share, as a kernel would that forgets the thread's index.
TEST(ThreadPool, AHostilePoolShowsSharedScratchEveryTime) {
  if (!canPauseMidway()) GTEST_SKIP() << "threads cannot be stopped midway here";
  for (int attempt = 0; attempt < 50; ++attempt) {
    ThreadPool pool(3, ThreadManner::Hostile);
    std::vector<std::atomic<size_t>> shared(256);
    std::atomic<size_t> wrong = 0;
    for (int round = 0; round < 4; ++round)
      pool.parallelFor(12, [&](size_t i, size_t) {
        for (auto& place : shared) place.store(i, std::memory_order_relaxed);
        for (const auto& place : shared) wrong += place.load(std::memory_order_relaxed) != i;
      });
    EXPECT_GT(wrong, 0u) << "attempt " << attempt;
  }
}

/// Each body adds to a sum that all share, by a load, a little other work, and a store.
TEST(ThreadPool, AHostilePoolStopsInAShortWindow) {
  if (!canPauseMidway()) GTEST_SKIP() << "threads cannot be stopped midway here";
  size_t found = 0;
  for (size_t attempt = 0; attempt < 20; ++attempt) {
    ThreadPool pool(3 + attempt % 3, ThreadManner::Hostile);
    bool isWrong = false;
    for (int round = 0; round < 4; ++round) {
      std::atomic<int> sum = 0;
      pool.parallelFor(8, [&](size_t, size_t) {
        [[maybe_unused]] volatile int work = 0;
        const int read = sum.load(std::memory_order_relaxed);
        for (int i = 0; i < 2; ++i) work = i;
        sum.store(read + 1, std::memory_order_relaxed);
        for (int i = 0; i < 100; ++i) work = i;
      });
      isWrong = isWrong || sum != 8;
    }
    found += isWrong;
  }
  EXPECT_GE(found, 10u) << "of 20";
}

TEST(ThreadPool, ZeroTakesOnePerCore) { EXPECT_GE(ThreadPool(0).threadCount(), 1u); }

TEST(ThreadPool, WhatABodyThrowsReachesTheCaller) {
  for (const auto& [threads, manner] : {std::pair<size_t, ThreadManner>{1, ThreadManner::Spins},
                                        {3, ThreadManner::Spins},
                                        {3, ThreadManner::Hostile}}) {
    ThreadPool pool(threads, manner);
    for (int round = 0; round < 20; ++round) {
      std::atomic<int> runs = 0;
      EXPECT_THROW(pool.parallelFor(100,
                                    [&](size_t i, size_t) {
                                      ++runs;
                                      if (i % 7 == 3) throw std::bad_alloc();
                                    }),
                   std::bad_alloc);
      EXPECT_GE(runs, 1);
      runs = 0;
      pool.parallelFor(50, [&](size_t, size_t) { ++runs; });  // the pool still works
      EXPECT_EQ(runs, 50);
    }
  }
}

TEST(ThreadPool, MoreThreadsThanThereMayBeAreRefused) {
  ASSERT_TRUE(makeThreadPool(2));
  EXPECT_EQ((*makeThreadPool(2))->threadCount(), 2u);
  for (const size_t threads : {kMostThreads + 1, size_t{100000}, static_cast<size_t>(-1)}) {
    const Status refused = makeThreadPool(threads).error();
    EXPECT_EQ(refused.code(), StatusCode::InvalidArgument);
    EXPECT_NE(refused.message().find(std::to_string(threads)), std::string::npos) << refused.message();
  }
}

/// In a separate process: a memory limit leaves no room for the stacks.
TEST(ThreadPool, ARefusalOfTheSystemIsAStatus) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "sanitizers need address space without a limit";
#endif
  const auto tryIt = [] {
    const rlimit limit{512 << 20, 512 << 20};
    setrlimit(RLIMIT_AS, &limit);
    const auto pool = makeThreadPool(500);
    std::fprintf(stderr, "%s\n", pool ? "made" : pool.error().toString().c_str());
    std::exit(0);
  };
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(tryIt(), testing::ExitedWithCode(0), "OutOfMemory: the system refused one of 500 threads");
}

}  // namespace
}  // namespace opkit
