// op-report detect: a history of nights, judged.
#include <nlohmann/json.hpp>

#include "reports/testing/results_text.h"

namespace opkit::reports {
namespace {

class JudgedTest : public OpReportTest {
 protected:
  /// Adds a night of seven process runs that take `ns`, with a little noise.
  void night(int number, double ns, double margin, const std::string& commit, const std::string& driver = "driver 1",
             const std::string& options = "", double everySecond = 1) {
    std::string lines;
    for (int i = 0; i < 7; ++i)
      lines += RunText{.id = fmt::format("{:08x}{:08x}", number, i + (options.empty() ? 0 : 100)),
                       .night = fmt::format("2026-01-{:02}", number),
                       .started = fmt::format("2026-01-{:02}T00:{:02}:00Z", number, i),
                       .ended = fmt::format("2026-01-{:02}T00:{:02}:30Z", number, i),
                       .commit = commit,
                       .command = "bench" + options,
                       .driver = driver,
                       .executeNs = ns * (i % 2 ? everySecond : 1) * (1 + 0.002 * ((number * 5 + i * 3) % 7)),
                       .margin = margin}
                   .text();
    ASSERT_EQ(run("add --history " + history_ + " " + file(lines)), 0);
  }
  int detect(std::string* said) { return run("detect --history " + history_, said); }
};

TEST_F(JudgedTest, ASlowDownIsFoundWithItsNightsCommitsAndCommands) {
  for (int i = 1; i <= 12; ++i) night(i, 100'000, 0.25, "good12345678");
  std::string said;
  EXPECT_EQ(detect(&said), 0) << said;
  EXPECT_NE(said.find("0 new findings (0 worse)"), std::string::npos) << said;
  for (int i = 13; i <= 14; ++i) night(i, 130'000, 0.25, "bad123456789");
  EXPECT_EQ(detect(&said), 1) << said;
  EXPECT_NE(said.find("new worse: 2 series of Relu on cpu, executeWall 1.3 times"), std::string::npos) << said;
  EXPECT_NE(said.find("between 2026-01-12 (good12345678) and 2026-01-13 (bad123456789)"), std::string::npos) << said;
  EXPECT_NE(said.find("suspect  the code"), std::string::npos) << said;
  EXPECT_NE(said.find("repeat   op-harness bench --backend cpu --case 'Relu/f32["), std::string::npos) << said;
  EXPECT_NE(said.find("git worktree add ../before good12345678"), std::string::npos) << said;
  night(15, 130'000, 0.25, "bad123456789");
  EXPECT_EQ(detect(&said), 0) << "it is known since the night before: " << said;
  EXPECT_NE(said.find("0 new findings (0 worse); 12 series: 2 worse"), std::string::npos) << said;
}

TEST_F(JudgedTest, ADriverThatMovedAtTheSameNightIsTheSuspect) {
  for (int i = 1; i <= 15; ++i) {
    night(i, i <= 12 ? 100'000 : 130'000, 0.25, "same12345678", i <= 12 ? "driver 1" : "driver 2");
    night(i, 100'000, 0.25, "same12345678", "another", " --driver /some/other.json");  // as ./nightly does
  }
  std::string said;
  EXPECT_EQ(detect(&said), 0) << said;
  EXPECT_NE(said.find("suspect  the environment: driver"), std::string::npos) << said;
}

TEST_F(JudgedTest, HalvesOfANightThatDifferAreFalseAlarms) {
  for (int i = 1; i <= 12; ++i) night(i, 100'000, 0.25, "same12345678");
  std::string said;
  EXPECT_EQ(detect(&said), 0) << said;
  EXPECT_NE(said.find("A/A: the 7 process runs of tonight in two halves: 0 of "), std::string::npos) << said;
  night(13, 100'000, 0.25, "same12345678", "driver 1", "", 1.5);
  detect(&said);
  EXPECT_NE(said.find("two halves: 2 of "), std::string::npos) << said;
  EXPECT_NE(said.find("differs  Relu/f32["), std::string::npos) << said;
  EXPECT_NE(said.find("executeWall 1.5"), std::string::npos) << said;
  const std::string page = folder_ + "/halves.html";
  ASSERT_EQ(run("build --history " + history_ + " --output " + page), 0);
  EXPECT_NE(contents(page).find("two halves: 2 of "), std::string::npos);
}

TEST_F(JudgedTest, AFirstNightOfOneRunIsNoSpecialCase) {
  ASSERT_EQ(run("add --history " + history_ + " " + file(RunText{.id = "0123456789abcdef"}.text())), 0);
  std::string said;
  EXPECT_EQ(detect(&said), 0) << said;
  EXPECT_NE(said.find("A/A: no figure has four process runs tonight"), std::string::npos) << said;
  ASSERT_EQ(run("build --history " + history_ + " --output " + folder_ + "/first.html", &said), 0);
  EXPECT_NE(said.find("The first night of this history: nothing to compare with."), std::string::npos) << said;
}

TEST_F(JudgedTest, AMarginThatJumpsIsFoundTheNextMorning) {
  for (int i = 1; i <= 3; ++i) night(i, 100'000, 0.125, "good12345678");
  night(4, 100'000, 0.5, "bad123456789");
  std::string said;
  EXPECT_EQ(detect(&said), 1) << said;
  EXPECT_NE(said.find("margin 4 times"), std::string::npos) << said;
  EXPECT_NE(said.find("repeat   op-harness check --backend cpu"), std::string::npos) << said;
}

TEST_F(JudgedTest, ThePageBeginsWithTheVerdict) {
  for (int i = 1; i <= 3; ++i) night(i, 100'000, 0.125, "good12345678");
  night(4, 100'000, 0.5, "bad123456789");
  const std::string page = folder_ + "/index.html", data = folder_ + "/data.json";
  std::string said;
  ASSERT_EQ(run("build --history " + history_ + " --output " + page + " --data " + data, &said), 0);
  const std::string html = contents(page);
  // The same three lines on the terminal.
  for (const char* line : {"cases recorded, none failed.", "Since 2026-01-03 (good12345678): 0 cases changed status",
                           "All 7 runs reached their end: "}) {
    EXPECT_NE(html.find(line), std::string::npos) << line;
    EXPECT_NE(said.find(line), std::string::npos) << line << " in " << said;
  }
  EXPECT_NE(said.find("First: worse: "), std::string::npos) << said;
  const size_t verdict = html.find("GREEN: "), finding = html.find("margin 4 times");
  EXPECT_NE(finding, std::string::npos);
  EXPECT_LT(verdict, finding);
  EXPECT_LT(finding, html.find("<h2>"));
  // Seven process runs are one row.
  const nlohmann::json times = nlohmann::json::parse(contents(data))["operators"]["Relu"]["times"];
  ASSERT_EQ(times.size(), 2U) << times;
  for (const nlohmann::json& one : times) EXPECT_EQ(one["runs"].size(), 7U) << one;
}

TEST_F(JudgedTest, AFirstNightIsJudgedAndBadInputIsOneLine) {
  night(1, 100'000, 0.25, "c");
  std::string said;
  EXPECT_EQ(detect(&said), 0) << said;
  EXPECT_NE(said.find("2026-01-01: 0 new findings"), std::string::npos) << said;
  EXPECT_EQ(run("detect --history /no/such/file", &said), 2);
  EXPECT_EQ(std::count(said.begin(), said.end(), '\n'), 1) << said;
}

}  // namespace
}  // namespace opkit::reports
