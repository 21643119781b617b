// Result files for tests, and op-report as a program.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "engine/base/where.h"

namespace opkit::reports {

/// A run of three lines and one per case; every text that a test varies is a field.
struct RunText {
  std::string id = "a", night, started = "2026-01-01T00:00:00Z", ended = "2026-01-01T01:00:00Z", commit = "c1";
  std::string command = "bench", kind = "bench", status = "pass", digest = "aa00000000000000", driver = "driver 1";
  double executeNs = 1000, margin = 0.25, loopNs = 500;
  int cases = 2;
  bool timed = true;
  double durationNs = 0;

  std::string timesOf(int i) const {
    if (!timed) return "";
    return fmt::format(R"(,"times":{{"executeWall":{{"min":{0},"median":{0},"mad":1,"samples":[{0}]}}}})",
                       executeNs + i);
  }
  std::string text() const {
    std::string lines;
    if (!night.empty())
      lines += fmt::format(R"({{"record":"plan","night":"{}"}})"
                           "\n",
                           night);
    lines += fmt::format(
        R"({{"record":"run","schema":2,"run":"{}","command":"{}","planned":{{"cpu":{}}},"started":"{}","commit":"{}","host":"h","cpu":"CPU","cores":4,"os":"Linux 6","compiler":"g++"}})"
        "\n",
        id, command, cases, started, commit);
    lines += fmt::format(
        R"({{"record":"device","run":"{}","backend":"cpu","name":"CPU","driver":"{}","uuid":"","software":false,"calibration":{{"loopNs":{},"copyBytesPerNs":10}}}})"
        "\n",
        id, driver, loopNs);
    for (int i = 0; i < cases; ++i)
      lines += fmt::format(
          R"({{"record":"case","run":"{}","kind":"{}","id":"Relu/f32[{}]","op":"Relu","backend":"cpu","provider":"opkit","dtype":"f32","status":"{}","reason":"{}","digest":"{}","durationNs":{},"repro":"op-harness {} --case 'Relu/f32[{}]'","accuracy":{{"margin":{},"nmse":1e-15}}{}}})"
          "\n",
          id, kind, i, status, status == "pass" ? "" : "why", digest, durationNs, command, i, margin, timesOf(i));
    return lines + fmt::format(R"({{"record":"summary","run":"{}","outcome":"complete","ended":"{}"}})"
                               "\n",
                               id, ended);
  }
};

/// Path of the program; the test program defines it.
std::string opReport();

class OpReportTest : public testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string file(const std::string& text) {
    const std::string path = folder_ + "/results_" + std::to_string(++files_) + ".jsonl";
    std::ofstream(path) << text;
    return path;
  }
  /// Runs op-report in a shell, after `before`; returns its exit code, leaves its output in `said`.
  int run(const std::string& arguments, std::string* said = nullptr, const std::string& before = "") {
    const std::string log = folder_ + "/said.log";
    const int status = std::system(fmt::format("{} {} {} >{} 2>&1", before, opReport(), arguments, log).c_str());
    if (said) *said = contents(log);
    return WEXITSTATUS(status);
  }
  static std::string contents(const std::string& path) {
    if (std::filesystem::is_directory(path)) return "";
    std::ifstream stream(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
  }

  int files_ = 0;
  // Tests run at the same time.
  const std::string folder_ =
      testing::TempDir() + "op_report_" + testing::UnitTest::GetInstance()->current_test_info()->name();
  const std::string history_ = folder_ + "/history.sqlite";
};

}  // namespace opkit::reports
