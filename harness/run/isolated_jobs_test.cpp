#include "harness/run/isolated_jobs.h"

#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <map>
#include <new>
#include <stdexcept>
#include <thread>

#include "harness/run/worker_note.h"

namespace opkit::harness {
namespace {

using Kind = JobOutcome::Kind;

std::map<size_t, JobOutcome> runAll(size_t count, size_t workers, const std::function<std::string(size_t)>& job) {
  std::map<size_t, JobOutcome> outcomes;
  const Status status = runIsolated(count, workers, 2, job, [&](size_t i, const JobOutcome& o) { outcomes[i] = o; });
  EXPECT_TRUE(status.isOk()) << status.message();
  return outcomes;
}

TEST(IsolatedJobs, EveryJobAnswersOnce) {
  const auto outcomes = runAll(50, 3, [](size_t i) { return std::string(i * 1000, 'x'); });
  ASSERT_EQ(outcomes.size(), 50u);
  for (const auto& [i, outcome] : outcomes) {
    EXPECT_EQ(outcome.kind, Kind::Answered);
    EXPECT_EQ(outcome.answer.size(), i * 1000);
  }
}

TEST(IsolatedJobs, ACrashCostsOneJob) {
  const auto outcomes = runAll(7, 2, [](size_t i) -> std::string {
    if (i == 3) raise(SIGKILL);
    if (i == 5) _exit(9);
    return "done";
  });
  ASSERT_EQ(outcomes.size(), 7u);
  for (const auto& [i, outcome] : outcomes)
    EXPECT_EQ(outcome.kind, i == 3 || i == 5 ? Kind::Crashed : Kind::Answered) << i;
  EXPECT_NE(outcomes.at(3).answer.find("signal 9"), std::string::npos);
  EXPECT_EQ(outcomes.at(5).answer, "exit code 9");
}

TEST(IsolatedJobs, AWorkerThatEndsOrHangsLeavesWhereItWas) {
  const auto outcomes = runAll(5, 2, [](size_t i) -> std::string {
    noteWork("begins");
    if (i == 4) return "done";
    noteWork("case " + std::to_string(i) + std::string(i == 0 ? 5000 : 0, 'x'));
    if (i == 0) raise(SIGKILL);
    if (i == 1) prctl(PR_SET_NAME, "llvmpipe-0");
    for (volatile bool runs = true; runs && i < 3;) {
    }
    pause();
    return "never";
  });
  ASSERT_EQ(outcomes.size(), 5u);
  EXPECT_EQ(outcomes.at(0).kind, Kind::Crashed);
  EXPECT_EQ(outcomes.at(0).where, "case 0" + std::string(994, 'x')) << "cut";
  EXPECT_EQ(outcomes.at(1).where, "case 1");
  EXPECT_EQ(outcomes.at(1).activity, "the device's threads run");
  EXPECT_EQ(outcomes.at(2).where, "case 2");
  EXPECT_EQ(outcomes.at(2).activity, "its own code runs");
  EXPECT_EQ(outcomes.at(3).activity, "all its threads sleep");
  EXPECT_EQ(outcomes.at(4).where, "");
  noteWork("no worker: for the line of a crash");
}

TEST(IsolatedJobs, WhatAJobThrowsIsItsOutcome) {
  const auto outcomes = runAll(5, 2, [](size_t i) -> std::string {
    if (i == 1) throw std::bad_alloc();
    if (i == 3) throw std::runtime_error("two\nlines");
    return "done";
  });
  ASSERT_EQ(outcomes.size(), 5u);
  for (const auto& [i, outcome] : outcomes)
    EXPECT_EQ(outcome.kind, i == 1 || i == 3 ? Kind::Crashed : Kind::Answered) << i;
  EXPECT_NE(outcomes.at(1).answer.find("OutOfMemory: the host is out of memory"), std::string::npos);
  EXPECT_EQ(outcomes.at(3).answer, "Internal: unexpected: two lines");
}

TEST(IsolatedJobs, AWorkerThatHoldsTooMuchIsReplaced) {
  std::map<size_t, std::string> workers;
  static std::vector<char> held;
  const auto job = [](size_t i) {
    if (i == 2) held.assign(size_t{300} << 20, 'x');
    return std::to_string(getpid());
  };
  const Status status = runIsolated(5, {.workers = 1, .timeoutSeconds = 20, .replaceBytes = size_t{200} << 20}, job,
                                    [&](size_t i, const JobOutcome& outcome) {
                                      EXPECT_EQ(outcome.kind, Kind::Answered);
                                      workers[i] = outcome.answer;
                                    });
  EXPECT_TRUE(status.isOk()) << status.message();
  EXPECT_EQ(workers[0], workers[2]);
  EXPECT_NE(workers[2], workers[3]);
  EXPECT_EQ(workers[3], workers[4]);
}

TEST(IsolatedJobs, AHangCostsOneJob) {
  const auto outcomes = runAll(4, 2, [](size_t i) -> std::string {
    while (i == 1) pause();
    return "done";
  });
  ASSERT_EQ(outcomes.size(), 4u);
  EXPECT_EQ(outcomes.at(1).kind, Kind::TimedOut);
  EXPECT_EQ(outcomes.at(2).kind, Kind::Answered);
}

TEST(IsolatedJobs, AWorkerThatEndsBetweenTwoJobsCostsTheSecond) {
  std::map<size_t, JobOutcome> outcomes;
  const auto job = [](size_t i) -> std::string {
    if (i == 0)
      std::thread([] {
        usleep(50'000);
        raise(SIGKILL);
      }).detach();
    return "done";
  };
  const Status status = runIsolated(3, 1, 20, job, [&](size_t i, const JobOutcome& outcome) {
    outcomes[i] = outcome;
    if (i == 0) usleep(200'000);  // until the worker has ended
  });
  ASSERT_TRUE(status.isOk()) << status.message();
  EXPECT_EQ(outcomes.at(1).kind, Kind::Crashed);
  EXPECT_EQ(outcomes.at(2).answer, "done");
}

TEST(IsolatedJobs, AJobThatAsksForMoreTimeGetsIt) {
  std::map<size_t, JobOutcome> outcomes;
  const auto job = [](size_t i) -> std::string {
    if (i == 0) needMoreTime(30), usleep(1'500'000);
    while (i == 1) pause();
    return "done";
  };
  ASSERT_TRUE(runIsolated(2, 1, 1, job, [&](size_t i, const JobOutcome& o) { outcomes[i] = o; }).isOk());
  EXPECT_EQ(outcomes.at(0).kind, Kind::Answered);
  EXPECT_EQ(outcomes.at(1).kind, Kind::TimedOut) << "the next job has its own limit";
}

TEST(IsolatedJobs, AnEndlessLoopCostsOneJob) {
  const auto outcomes = runAll(3, 2, [](size_t i) -> std::string {
    std::atomic<size_t> turns = 0;
    while (i == 1) ++turns;
    return "done";
  });
  ASSERT_EQ(outcomes.size(), 3u);
  EXPECT_EQ(outcomes.at(1).kind, Kind::TimedOut);
  EXPECT_EQ(outcomes.at(2).kind, Kind::Answered);
}

TEST(IsolatedJobs, WorkersThatHaveEndedAreNotCountedAsRunning) {
  runAll(3, 2, [](size_t) { return "done"; });
  EXPECT_EQ(runningWorkersSeconds(), 0);
}

}  // namespace
}  // namespace opkit::harness
