#include "harness/run/worker_clock.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <thread>

#include "engine/base/thread_name.h"

namespace opkit::harness {
namespace {

constexpr double kLimit = 120, kCores = 2;
constexpr ThreadTimes kRuns{.ran = 1}, kSleeps{}, kRunsOneFifth{.ran = 0.2, .waited = 0.8};

/// A job of kLimit that begins at 1000 s and is seen every second.
class WorkerClockTest : public testing::Test {
 protected:
  WorkerClockTest() { clock_.begin(now_, kLimit); }

  /// `eachSecond` is what the threads do in each second.
  void pass(double seconds, const ThreadTimes& eachSecond, double stolenShare = 0) {
    for (double i = 0; i < seconds; ++i) clock_.look(++now_, eachSecond, stolenShare);
  }
  bool isOver() const { return clock_.isOver(now_); }

  double now_ = 1000;
  WorkerClock clock_{now_, kCores};
};

TEST_F(WorkerClockTest, AnEndlessLoopOnAQuietMachineEndsAtItsLimit) {
  pass(kLimit - 1, kRuns);
  EXPECT_FALSE(isOver());
  pass(1, kRuns);
  EXPECT_TRUE(isOver());
}

TEST_F(WorkerClockTest, ADeadlockEndsAtItsLimit) {
  pass(kLimit - 1, kSleeps);
  EXPECT_FALSE(isOver());
  pass(1, kSleeps);
  EXPECT_TRUE(isOver());
}

TEST_F(WorkerClockTest, ADeadlockIsOneAlsoIfAThreadAwakesOnABusyMachine) {
  pass(1.2 * kLimit, {.ran = 0.001, .waited = 0.1});
  EXPECT_TRUE(isOver());
}

TEST_F(WorkerClockTest, OtherProcessesDoNotUseUpTheTime) {
  pass(5 * kLimit - 1, kRunsOneFifth);
  EXPECT_FALSE(isOver());
  pass(2, kRunsOneFifth);
  EXPECT_TRUE(isOver());
}

TEST_F(WorkerClockTest, OfManyThreadsTheShareOfAllCounts) {
  pass(5 * kLimit - 1, {.ran = 4 * 0.2, .waited = 4 * 0.8});
  EXPECT_TRUE(isOver()) << "it had a quiet machine's processor time";
  clock_.begin(now_, kLimit);
  pass(5 * kLimit - 1, {.ran = 2 * 0.2, .waited = 2 * 0.8});
  EXPECT_FALSE(isOver());
  pass(2, {.ran = 2 * 0.2, .waited = 2 * 0.8});
  EXPECT_TRUE(isOver());
}

TEST_F(WorkerClockTest, MoreThreadsThanCoresDoNotStretchTheTime) {
  pass(kLimit - 1, {.ran = kCores, .waited = 8 - kCores});
  EXPECT_FALSE(isOver());
  pass(1, {.ran = kCores, .waited = 8 - kCores});
  EXPECT_TRUE(isOver());
}

TEST_F(WorkerClockTest, WhatTheHostTakesIsOtherProcessesToo) {
  pass(2 * kLimit - 1, kRuns, 0.5);
  EXPECT_FALSE(isOver());
  pass(2, kRuns, 0.5);
  EXPECT_TRUE(isOver());
}

TEST_F(WorkerClockTest, WhileTheDriverCompilesTheClockStandsStill) {
  pass(10 * kLimit, {.ran = 1, .driver = 1});
  EXPECT_FALSE(isOver()) << "a first run compiles for minutes";
  pass(kLimit - 1, kRuns);
  EXPECT_FALSE(isOver());
  pass(1, kRuns);
  EXPECT_TRUE(isOver());
  clock_.begin(now_, kLimit);
  pass(WorkerClock::kMostStretch * kLimit, {.ran = 1, .driver = 1});
  EXPECT_TRUE(isOver()) << "patience has an end";
}

TEST_F(WorkerClockTest, PatienceHasAnEnd) {
  pass(WorkerClock::kMostStretch * kLimit - 1, {.ran = 0.0001, .waited = 0.9999});
  EXPECT_FALSE(isOver());
  pass(1, {.ran = 0.0001, .waited = 0.9999});
  EXPECT_TRUE(isOver());
}

TEST_F(WorkerClockTest, ItIsNeverOverBeforeItIsDue) {
  EXPECT_EQ(clock_.due(), 1000 + kLimit);
  pass(100, kRunsOneFifth);
  EXPECT_NEAR(clock_.due(), 1100 + kLimit - 20, 1e-6);
  pass(5 * kLimit - 100, kRunsOneFifth);
  EXPECT_LT(clock_.due(), now_ + 0.1);
  EXPECT_GT(clock_.due(), now_) << "or its owner would look without a pause";
}

TEST_F(WorkerClockTest, TheNextJobHasItsOwnTime) {
  pass(kLimit - 1, kRuns);
  clock_.begin(now_ + 0.5, kLimit);
  EXPECT_EQ(clock_.countedSeconds(), 0);
  pass(1, kRuns);
  EXPECT_NEAR(clock_.countedSeconds(), 0.5, 1e-9) << "the first half of the second was the last job's";
}

TEST(ProcessorTime, LinesOfTheSystemAreRead) {
  const auto thread = parseThreadTimes("2000000000 500000000 17");
  ASSERT_TRUE(thread);
  EXPECT_DOUBLE_EQ(thread->ran, 2);
  EXPECT_DOUBLE_EQ(thread->waited, 0.5);
  EXPECT_FALSE(parseThreadTimes(""));
  const auto machine = parseMachineTimes("cpu  100 20 30 4000 500 6 7 80 0 0", 100);
  ASSERT_TRUE(machine);
  EXPECT_DOUBLE_EQ(machine->busy, 1.63);
  EXPECT_DOUBLE_EQ(machine->idle, 45);
  EXPECT_DOUBLE_EQ(machine->stolen, 0.8);
  EXPECT_FALSE(parseMachineTimes("intr 100 20 30 4000 500 6 7 80", 100));
}

TEST(ProcessorTime, ThreadsThatEndDoNotTurnTheTimeBack) {
  const ThreadTimes times = timesBetween({{7, {5, 1}}, {8, {90, 9}}}, {{7, {6, 1.5}}, {9, {0.25, 0.5}}});
  EXPECT_DOUBLE_EQ(times.ran, 1.25);
  EXPECT_DOUBLE_EQ(times.waited, 1);
}

TEST(ProcessorTime, ThreadsThatCompileAreToldFromOthers) {
  std::atomic<bool> done = false;
  const auto spin = [&](const char* name) {
    return std::jthread([&done, name] {
      nameThread(name);
      while (!done) {
      }
    });
  };
  const auto driverSeconds = [] { return timesBetween({}, threadTimesOf(getpid())).driver; };
  if (threadTimesOf(getpid()).empty()) GTEST_SKIP() << "this system does not say how long threads wait";
  const std::jthread pool = spin("opkit-pool"), compiler = spin("driver");
  usleep(50'000);
  EXPECT_EQ(driverSeconds(), 0) << "no software device";
  const std::jthread device = spin("llvmpipe-0");
  usleep(50'000);
  const auto all = threadTimesOf(getpid());
  EXPECT_EQ(std::ranges::count_if(all, [](const auto& thread) { return thread.second.driver > 0; }), 1);
  EXPECT_GT(driverSeconds(), 0);
  done = true;
}

TEST(ProcessorTime, ThisProcessIsSeen) {
  const auto threads = threadTimesOf(getpid());
  if (threads.empty()) GTEST_SKIP() << "this system does not say how long threads wait";
  EXPECT_TRUE(threads.contains(getpid()));
  EXPECT_GT(ownSeconds(), 0);
  EXPECT_GT(processSeconds(getpid()), 0);
  EXPECT_GT(machineTimes().busy, 0);
}

}  // namespace
}  // namespace opkit::harness
