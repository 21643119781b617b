#include "engine/base/interrupt.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <functional>
#include <thread>

#include "engine/base/child_process.h"

namespace opkit {
namespace {

namespace fs = std::filesystem;

/// Runs `body` in a process with its own handlers; waits until it reports that it is ready.
class Program {
 public:
  explicit Program(const std::function<void(const std::function<void()>&)>& body) {
    int ends[2];
    EXPECT_EQ(pipe(ends), 0);
    pid_ = fork();
    if (pid_ == 0) {
      close(ends[0]);
      const int nowhere = open("/dev/null", O_WRONLY);
      dup2(nowhere, STDERR_FILENO);
      catchInterrupts("program");
      body([&] { static_cast<void>(!write(ends[1], "r", 1)); });
      _exit(interrupted() ? 50 : 51);
    }
    close(ends[1]);
    char ready = 0;
    EXPECT_EQ(read(ends[0], &ready, 1), 1);
    close(ends[0]);
  }
  pid_t pid() const { return pid_; }
  int exitCode() const {
    int state = 0;
    waitpid(pid_, &state, 0);
    return WIFEXITED(state) ? WEXITSTATUS(state) : 1000 + WTERMSIG(state);
  }

 private:
  pid_t pid_;
};

void sleepLong() {
  for (int i = 0; i < 600 && !interrupted(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(100));
}

TEST(Interrupt, EndsAProgramWithTheSignalsCode) {
  std::signal(SIGHUP, SIG_DFL);  // nohup(1) may have set it
  for (const auto& [signal, code] : {std::pair{SIGINT, 130}, {SIGTERM, 143}, {SIGHUP, 129}, {SIGPIPE, 141}}) {
    const Program program([](const auto& ready) {
      ready();
      sleepLong();
    });
    kill(program.pid(), signal);
    EXPECT_EQ(program.exitCode(), code);
  }
}

TEST(Interrupt, UnderNohupAHangupEndsNothing) {
  std::signal(SIGHUP, SIG_IGN);
  const Program program([](const auto& ready) {
    ready();
    sleepLong();
  });
  std::signal(SIGHUP, SIG_DFL);
  kill(program.pid(), SIGHUP);
  kill(program.pid(), SIGTERM);
  EXPECT_EQ(program.exitCode(), 143);
}

TEST(Interrupt, AHangupOfTheGroupLeavesWorkersToTheirParent) {
  std::signal(SIGHUP, SIG_DFL);
  const Program program([](const auto& ready) {
    const pid_t parent = getpid(), worker = fork();
    if (worker == 0) {
      becomeWorker(parent);
      raise(SIGHUP);
      _exit(7);
    }
    int state = 0;
    waitpid(worker, &state, 0);
    if (WIFEXITED(state) && WEXITSTATUS(state) == 7) ready();
    sleepLong();
  });
  kill(program.pid(), SIGHUP);
  EXPECT_EQ(program.exitCode(), 129);
}

TEST(Interrupt, LeavesNoTemporaryFile) {
  const std::string path = testing::TempDir() + "interrupt_temporary", kept = path + "_kept";
  const Program program([&](const auto& ready) {
    const TemporaryFile file(path);
    TemporaryFile renamed(kept);
    for (const std::string& each : {path, kept}) close(open(each.c_str(), O_CREAT | O_WRONLY, 0600));
    renamed.keep();
    ready();
    sleepLong();
  });
  EXPECT_TRUE(fs::exists(path));
  kill(program.pid(), SIGTERM);
  EXPECT_EQ(program.exitCode(), 143);
  EXPECT_FALSE(fs::exists(path));
  EXPECT_TRUE(fs::remove(kept));
}

TEST(Interrupt, AGracefulCommandStopsByItself) {
  const Program program([](const auto& ready) {
    const GracefulInterrupt graceful;
    ready();
    sleepLong();
  });
  kill(program.pid(), SIGINT);
  kill(program.pid(), SIGINT);  // timeout(1) sends it twice
  EXPECT_EQ(program.exitCode(), 50);
}

TEST(Interrupt, ACommandThatDoesNotStopIsEnded) {
  const Program program([](const auto& ready) {
    const GracefulInterrupt graceful;
    ready();
    while (true) std::this_thread::sleep_for(std::chrono::seconds(1));
  });
  kill(program.pid(), SIGINT);
  EXPECT_EQ(program.exitCode(), 130);
}

TEST(Interrupt, WorkersAndChildrenEndWithTheirParent) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const Program program([&](const auto& ready) {
    const pid_t self = getpid();
    if (fork() == 0) {  // holds the pipe's end, as its child does not
      becomeWorker(self);
      ready();
      sleepLong();
    }
    close(ends[1]);
    sleepLong();
  });
  close(ends[1]);
  kill(program.pid(), SIGKILL);
  EXPECT_EQ(program.exitCode(), 1000 + SIGKILL);
  char none = 0;
  EXPECT_EQ(read(ends[0], &none, 1), 0) << "the worker is gone";
  close(ends[0]);
}

TEST(ChildProcess, AnswersWithOutputAndExitCode) {
  const std::string large(300000, 'x');  // more than a pipe holds
  const auto copied = runChild({"cat"}, large);
  ASSERT_TRUE(copied) << copied.error().message();
  EXPECT_EQ(copied->exitCode, 0);
  EXPECT_EQ(copied->output, large);
  EXPECT_EQ(runChild({"sh", "-c", "exit 7"})->exitCode, 7);
  EXPECT_EQ(runChild({"sh", "-c", "kill -9 $$"})->exitCode, 137);
  EXPECT_EQ(runChild({"/no/such/program"})->exitCode, 127);
}

}  // namespace
}  // namespace opkit
