#include "engine/base/thread_pool.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <vector>

#include "engine/base/make_thread_pool.h"

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

TEST(ThreadPool, ZeroTakesOnePerCore) { EXPECT_GE(ThreadPool(0).threadCount(), 1u); }

TEST(ThreadPool, WhatABodyThrowsReachesTheCaller) {
  for (const size_t threads : {1, 3}) {
    ThreadPool pool(threads);
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
