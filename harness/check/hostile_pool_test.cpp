#include "harness/check/hostile_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <new>
#include <vector>

#include "engine/runtime/session.h"
#include "harness/check/pause_midway.h"
#include "ops/builtin_ops.h"

namespace opkit::harness {
namespace {

TEST(HostilePool, RunsEveryIndexOnceInAnotherOrder) {
  for (const size_t threads : {2, 3, 7}) {
    HostilePool pool(threads);
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
TEST(HostilePool, ShowsSharedScratchEveryTime) {
  if (!canPauseMidway()) GTEST_SKIP() << "threads cannot be stopped midway here";
  for (int attempt = 0; attempt < 50; ++attempt) {
    HostilePool pool(3);
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
TEST(HostilePool, StopsInAShortWindow) {
  if (!canPauseMidway()) GTEST_SKIP() << "threads cannot be stopped midway here";
  size_t found = 0;
  for (size_t attempt = 0; attempt < 20; ++attempt) {
    HostilePool pool(3 + attempt % 3);
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

TEST(HostilePool, WhatABodyThrowsReachesTheCaller) {
  HostilePool pool(3);
  for (int round = 0; round < 20; ++round) {
    std::atomic<int> runs = 0;
    const auto throwing = [&](size_t i, size_t) {
      ++runs;
      if (i % 7 == 3) throw std::bad_alloc();
    };
    EXPECT_THROW(pool.parallelFor(100, throwing), std::bad_alloc);
    EXPECT_GE(runs, 1);
    runs = 0;
    pool.parallelFor(50, [&](size_t, size_t) { ++runs; });  // the pool still works
    EXPECT_EQ(runs, 50);
  }
}

TEST(HostilePool, TheSessionsThatTakeItRunOnIt) {
  class CountingPool final : public ThreadPool {
   public:
    size_t threadCount() const override { return 2; }
    bool splitsAll() const override { return true; }
    void parallelFor(size_t count, const std::function<void(size_t, size_t)>& body) override {
      ++loops;
      ThreadPool::parallelFor(count, body);
    }
    int loops = 0;
  };
  Model model;
  const TensorId x = model.addInput("x", {DType::Float32, {64}});
  model.outputs = model.addNode("Relu", "relu", {x});
  const auto interpreter = *Interpreter::create(std::move(model), ops::builtinOps());
  const auto pool = std::make_shared<CountingPool>();
  const auto first = *interpreter->createSession({.pool = pool}), second = *first->clone();
  for (Session* session : {first.get(), second.get()}) {
    const int before = pool->loops;
    session->fillInput("x");
    ASSERT_TRUE(session->run().isOk());
    EXPECT_GT(pool->loops, before);
  }
}

}  // namespace
}  // namespace opkit::harness
