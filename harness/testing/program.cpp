#include "harness/testing/program.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <fstream>
#include <functional>
#include <thread>

#include "engine/base/where.h"

namespace opkit::harness {

Ran runShell(const std::string& command) {
  Ran ran;
  std::FILE* pipe = popen((command + " 2>&1").c_str(), "r");
  std::array<char, 4096> chunk = {};
  while (const size_t got = std::fread(chunk.data(), 1, chunk.size(), pipe)) ran.text.append(chunk.data(), got);
  const int state = pclose(pipe);
  ran.code = WIFEXITED(state) ? WEXITSTATUS(state) : 128;
  return ran;
}

std::string opHarness() { return partOfBuild(OPKIT_OP_HARNESS); }
std::string opRun() { return partOfBuild(OPKIT_OP_RUN); }

Ran run(const std::string& arguments) { return runShell(opHarness() + " " + arguments); }

namespace {

/// `condition`, or a minute.
void waitFor(const std::function<bool()>& condition) {
  for (int i = 0; i < 6000 && !condition(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
}

}  // namespace

Ran runUntil(const std::string& arguments, const std::string& file, const std::string& part, int signal) {
  const std::string log = fileWith("interrupted.log", "");
  const std::string command = "exec " + std::string(OPKIT_OP_HARNESS) + " " + arguments + " >" + log + " 2>&1";
  const pid_t child = fork();
  if (child == 0) {
    setpgid(0, 0);
    execl("/bin/sh", "sh", "-c", command.c_str(), nullptr);
    _exit(127);
  }
  int state = 0;
  bool ended = false;
  waitFor([&] {
    ended = ended || waitpid(child, &state, WNOHANG) == child;
    return ended || textOf(file).find(part) != std::string::npos;
  });
  if (!ended) {
    kill(child, signal);
    waitpid(child, &state, 0);
  }
  Ran ran{WIFEXITED(state) ? WEXITSTATUS(state) : 128 + WTERMSIG(state), textOf(log)};
  // Zombies (ended but not reaped) do not count.
  const std::string group = "ps -eo pgid=,stat= | grep -v Z | grep -qw " + std::to_string(child);
  for (int i = 0; i < 10 && runShell(group).code == 0; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(100));
  if (runShell(group).code == 0) ran.text += "a process was left behind\n";
  return ran;
}

std::string fileWith(const std::string& name, const std::string& text) {
  const std::string path = testing::TempDir() + name;
  std::ofstream(path) << text;
  return path;
}

std::string textOf(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void expectPart(const Ran& ran, const std::string& part) {
  EXPECT_NE(ran.text.find(part), std::string::npos) << "expected '" << part << "' in:\n" << ran.text;
}

void expectOneLine(const Ran& ran, const std::string& part) {
  EXPECT_EQ(ran.code, 2) << ran.text;
  EXPECT_NE(ran.text.find(part), std::string::npos) << ran.text;
  EXPECT_EQ(std::count(ran.text.begin(), ran.text.end(), '\n'), 1) << ran.text;
}

}  // namespace opkit::harness
