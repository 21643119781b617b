// `check` and `margins` as a user changes a kernel or a driver: a margin that grew, a row that no case meets, runs that
// are no whole, a device for which nothing is recorded.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <regex>

#include "harness/run/driver_range.h"
#include "harness/testing/program.h"
#include "reports/results/reader.h"

namespace opkit::harness::margins_command {
namespace {

namespace fs = std::filesystem;

constexpr const char* kNothing = "operator\tdtype\tlane\tkernel\tentry\n";

class ProgramMargins : public testing::Test {
 protected:
  ProgramMargins() {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    write(record_, kNothing);
  }

  static void write(const std::string& path, const std::string& text) { std::ofstream(path) << text; }
  static std::string replaced(const std::string& text, const std::string& from, const std::string& to) {
    return std::regex_replace(text, std::regex(from), to);
  }

  /// Checks an operator against the record and appends to the results.
  Ran check(const std::string& more = "--written", const std::string& environment = "") const {
    return runShell(environment + opHarness() + " check --op Acosh --brief --margins " + record_ + " --json " +
                    results_ + " " + more + (more.find("--backend") == std::string::npos ? " --backend cpu" : ""));
  }
  Ran update() const { return run("margins " + results_ + " --update " + record_); }
  /// The record of the kernels as they are.
  std::string recorded() const {
    EXPECT_EQ(check().code, 0);
    const Ran ran = update();
    EXPECT_EQ(ran.code, 0) << ran.text;
    const std::string text = textOf(record_);
    EXPECT_NE(text.find("Acosh\tf32\tnormal\topkit/vector\t"), std::string::npos) << text;
    fs::remove(results_);
    return text;
  }

  const std::string folder_ =
      testing::TempDir() + "program_margins_" + testing::UnitTest::GetInstance()->current_test_info()->name();
  const std::string record_ = folder_ + "/margins.tsv", results_ = folder_ + "/results.jsonl";
};

TEST_F(ProgramMargins, AWantedLossIsRecorded) {
  const std::string text = recorded();
  write(record_, replaced(text, R"(\t0\.\d+)", "\t0.001"));  // the kernels were more exact once
  const Ran failed = check();
  EXPECT_EQ(failed.code, 1) << failed.text;
  expectPart(failed, "!margin");
  expectPart(failed, "(four times the recorded figure). If the change is wanted, record it with `op-harness margins`");
  expectPart(failed, " --margins " + record_);  // the command that repeats it
  const Ran ran = update();
  EXPECT_EQ(ran.code, 0) << ran.text;
  expectPart(ran, "0.001 -> 0.");
  expectPart(ran, " margins added, changed or dropped\n");
  EXPECT_EQ(textOf(record_), text);
  EXPECT_EQ(check().code, 0);
}

TEST_F(ProgramMargins, ARowThatNoCaseMeetsFailsAWholeRun) {
  const std::string text = recorded();
  write(record_, replaced(text, "opkit/vector", "opkit/former"));
  const Ran failed = check();
  EXPECT_EQ(failed.code, 1) << failed.text;
  expectPart(failed, "no case met the row 'Acosh f32 normal opkit/former ");
  for (const char* part : {"--written --filter normal", "--written --shard 1/2", "--written --seed 8"})
    EXPECT_EQ(check(part).code, 0) << part;
  fs::remove(results_);
  ASSERT_EQ(check().code, 1);
  const Ran ran = update();
  EXPECT_EQ(ran.code, 0) << ran.text;
  EXPECT_TRUE(std::regex_search(ran.text, std::regex("opkit/former [0-9a-f]{6} cpu/\\w+: 0\\.\\d+ -> none\n")))
      << ran.text;
  EXPECT_EQ(textOf(record_), text);
  EXPECT_EQ(check().code, 0);
}

TEST_F(ProgramMargins, TheLastRunOfAnOperatorCounts) {
  const std::string text = recorded();
  ASSERT_EQ(check().code, 0);
  const std::string old = replaced(textOf(results_), R"("margin":0\.0)", "\"margin\":0.1");
  ASSERT_EQ(check().code, 0);
  const std::string both = textOf(results_);
  write(results_, old + both.substr(old.size()));
  ASSERT_NE(textOf(results_), both);
  EXPECT_EQ(update().code, 0);
  EXPECT_EQ(textOf(record_), text);
}

TEST_F(ProgramMargins, PartsOfARunAreRefused) {
  const std::string text = recorded();
  const auto refused = [&](const std::string& why) {
    expectOneLine(update(), why);
    EXPECT_EQ(textOf(record_), text);
    fs::remove(results_);
  };
  ASSERT_EQ(check("").code, 0);
  refused("expected runs of `check --written`");
  for (const char* part : {"--filter normal", "--shard 1/2", "--seed 8"}) {
    ASSERT_EQ(check(std::string("--written ") + part).code, 0);
    refused("got a run with " + std::string(part).substr(0, std::string(part).find(' ')));
  }
  ASSERT_EQ(check().code, 0);
  write(results_, replaced(textOf(results_), R"(\{[^\n]*"record":"summary"[^\n]*\n)", ""));
  refused("did not reach its end");
}

/// Figures of another instruction set stand for those of another driver.
TEST_F(ProgramMargins, NothingFailsWhereNothingIsRecorded) {
  const std::string text = recorded();
  const std::string other = replaced(replaced(text, R"(\tcpu/\w+)", "\tcpu/OTHER"), R"(\t0\.\d+)", "\t0.001");
  write(record_, other);
  const Ran ran = check();
  EXPECT_EQ(ran.code, 0) << ran.text;
  expectPart(ran, ": no margins are recorded, so none were compared. To record them: op-harness check --written ");
  expectPart(ran, " --json FILE && op-harness margins FILE --update " + record_ + "\n");
  write(results_, replaced(textOf(results_), "check --op", "check --driver other.json --op"));
  const Ran added = update();
  EXPECT_EQ(added.code, 0) << added.text;
  const std::string both = textOf(record_);
  EXPECT_NE(both.find("\tcpu/OTHER"), std::string::npos) << both;
  EXPECT_NE(both.find("\t0.001"), std::string::npos) << both;
  const Ran again = check();
  EXPECT_EQ(again.code, 0) << again.text;
  EXPECT_EQ(again.text.find("no margins are recorded"), std::string::npos) << again.text;
}

#ifdef OPKIT_HAS_VULKAN
TEST_F(ProgramMargins, AreOfADriverAndItsMajorVersion) {
  const std::string exp = "--written --backend vulkan --op Exp";
  ASSERT_EQ(check(exp).code, 0);
  reports::Results results;
  ASSERT_TRUE(reports::readResults(results_, results).isOk());
  const std::string series = driverSeriesOf(results.devices.at(0).driver);
  ASSERT_EQ(update().code, 0);
  const std::string lost = replaced(textOf(record_), R"(\t0\.\d+)", "\t0.001");
  const size_t at = lost.find(series);
  ASSERT_NE(at, std::string::npos) << "no column of " << series << " in\n" << lost;
  write(record_, lost);
  EXPECT_EQ(check(exp).code, 1) << "the same driver";
  fs::remove(results_);
  write(record_, lost.substr(0, at) + "other " + lost.substr(at));
  const Ran ran = check(exp);
  EXPECT_EQ(ran.code, 0) << ran.text;
  expectPart(ran, ": no margins are recorded, so none were compared");
  ASSERT_EQ(update().code, 0);
  const std::string both = textOf(record_);
  EXPECT_NE(both.find("other " + series), std::string::npos) << "another driver's column stays\n" << both;
  EXPECT_NE(both.find(series), both.find("other " + series) + 6) << "the driver has a column now\n" << both;
  EXPECT_EQ(check(exp).code, 0);
}

TEST_F(ProgramMargins, ResultsThatNameNoDriverAreRefused) {
  const std::string text = recorded();
  ASSERT_EQ(check("--written --backend vulkan").code, 0);
  write(results_, replaced(textOf(results_), R"(\{[^\n]*"record":"device"[^\n]*\n)", ""));
  expectOneLine(update(), "expected results that name the driver");
  EXPECT_EQ(textOf(record_), text);
}

TEST_F(ProgramMargins, AMaskedDeviceIsRefused) {
  const std::string text = recorded();
  ASSERT_EQ(check("--written --backend vulkan", "OPKIT_VULKAN_MASK=workgroup=128 ").code, 0);
  expectOneLine(update(), "the device is masked");
  EXPECT_EQ(textOf(record_), text);
}
#endif

}  // namespace
}  // namespace opkit::harness::margins_command
