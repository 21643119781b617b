#include "engine/base/crash_line.h"

#include <gtest/gtest.h>

#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <string>
#include <thread>

namespace opkit {
namespace {

/// More stack than a thread has.
int deep(int n) {
  volatile char frame[4096] = {};
  frame[0] = static_cast<char>(n);
  return n == 0 ? frame[0] : deep(n - 1) + frame[0];
}

/// Sanitizers report crashes themselves.
bool isHandled() {
  struct sigaction present = {};
  sigaction(SIGSEGV, nullptr, &present);
  return present.sa_handler != SIG_DFL;
}

TEST(CrashLine, SaysByWhichSignalAndInWhat) {
  if (isHandled()) GTEST_SKIP() << "a sanitizer handles crashes";
  const auto inWork = [](int signal) {
    catchCrashes("program");
    noteForCrash("a case on cpu");
    std::raise(signal);
  };
  EXPECT_EXIT(inWork(SIGSEGV), testing::KilledBySignal(SIGSEGV),
              "^program: ended with signal 11 \\(Segmentation fault\\), in a case on cpu\n$");
  EXPECT_EXIT(inWork(SIGFPE), testing::KilledBySignal(SIGFPE), "signal 8 \\(Floating point exception\\)");
  EXPECT_EXIT((catchCrashes("program"), std::abort()), testing::KilledBySignal(SIGABRT),
              "^program: ended with signal 6 \\(Aborted\\)\n$");
  EXPECT_EXIT((catchCrashes("program"), deep(1 << 20)), testing::KilledBySignal(SIGSEGV), "^program: ended with");
}

TEST(CrashLine, IsWholeIfTwoThreadsCrash) {
  if (isHandled()) GTEST_SKIP() << "a sanitizer handles crashes";
  const auto crashTwice = [] {
    catchCrashes("program");
    std::atomic<int> waiting = 2;
    const auto crash = [&] {
      --waiting;
      while (waiting > 0) {
      }
      std::raise(SIGSEGV);
    };
    std::thread other(crash);
    crash();
    other.join();
  };
  for (int i = 0; i < 20; ++i)
    EXPECT_EXIT(crashTwice(), testing::KilledBySignal(SIGSEGV),
                "^program: ended with signal 11 \\(Segmentation fault\\)\n$");
}

TEST(CrashLine, IsNotOfAWorker) {
  if (isHandled()) GTEST_SKIP() << "a sanitizer handles crashes";
  const auto asWorker = [] {
    catchCrashes("program");
    endCrashLines();
    std::raise(SIGSEGV);
  };
  EXPECT_EXIT(asWorker(), testing::KilledBySignal(SIGSEGV), "^$");
}

TEST(CrashLine, LeavesHandlersOfOthersAlone) {
  const auto handled = [] {
    std::signal(SIGSEGV, [](int) { _exit(7); });
    catchCrashes("program");
    std::raise(SIGSEGV);
  };
  EXPECT_EXIT(handled(), testing::ExitedWithCode(7), "^$");
}

}  // namespace
}  // namespace opkit
