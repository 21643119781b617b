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
#include "reports/testing/run_text.h"

namespace opkit::reports {

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
