#include "harness/testing/program.h"

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <fstream>

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

std::string fileWith(const std::string& name, const std::string& text) {
  const std::string path = testing::TempDir() + name;
  std::ofstream(path) << text;
  return path;
}

std::string textOf(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void expectOneLine(const Ran& ran, const std::string& part) {
  EXPECT_EQ(ran.code, 2) << ran.text;
  EXPECT_NE(ran.text.find(part), std::string::npos) << ran.text;
  EXPECT_EQ(std::count(ran.text.begin(), ran.text.end(), '\n'), 1) << ran.text;
}

}  // namespace opkit::harness
