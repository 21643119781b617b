// Cases that vanish, and samples that only seem to.
#include <sstream>

#include "harness/cases/rng.h"
#include "reports/history/nights.h"
#include "reports/history/store.h"
#include "reports/testing/results_text.h"

namespace opkit::reports {
namespace {

class VanishedTest : public OpReportTest {
 protected:
  /// Adds a night of January. By default it times the cases Relu/f32[0] to Relu/f32[cases - 1].
  void night(int number, RunText text) {
    text.id = fmt::format("{:016x}", ++runs_);
    text.night = fmt::format("2026-01-{:02}", number);
    text.started = fmt::format("2026-01-{:02}T00:00:00Z", number);
    text.ended = fmt::format("2026-01-{:02}T01:00:00Z", number);
    add(text.text());
  }
  void nights(int first, int last, const RunText& text) {
    for (int i = first; i <= last; ++i) night(i, text);
  }
  void add(const std::string& lines) {
    std::istringstream stream(lines);
    std::vector<Results> results(1);
    ASSERT_TRUE(readResults(stream, "night", results[0], {.keepLines = true}).isOk());
    ASSERT_TRUE(Store::addTo(history_, results));
  }
  /// "bench Relu/f32[3] on cpu: ..." of each.
  std::vector<std::string> vanished() {
    std::vector<std::string> texts;
    const auto nights = readNights(history_);
    EXPECT_TRUE(nights);
    for (const Vanished& one : nights->vanished) texts.push_back(one.what());
    return texts;
  }

  int runs_ = 0;
};
using Texts = std::vector<std::string>;

TEST_F(VanishedTest, ACaseOfEveryNightThatIsGoneIsNamedForThreeNights) {
  nights(1, 10, {.cases = 3});
  EXPECT_EQ(vanished(), Texts());
  night(11, {.cases = 2});
  EXPECT_EQ(vanished(), Texts{"bench Relu/f32[2] on cpu: last measured 2026-01-10, on 10 of the 10 nights before"});
  nights(12, 13, {.cases = 2});
  EXPECT_EQ(vanished(), Texts{"bench Relu/f32[2] on cpu: last measured 2026-01-10, on 8 of the 10 nights before"});
  night(14, {.cases = 2});
  EXPECT_EQ(vanished(), Texts());
}

TEST_F(VanishedTest, FewerThanEightNightsAreNoPast) {
  nights(1, 7, {.cases = 3});
  night(8, {.cases = 2});
  EXPECT_EQ(vanished(), Texts());
}

TEST_F(VanishedTest, ItHasTheCommandThatRepeatsIt) {
  nights(1, 9, {.cases = 3});
  night(10, {.cases = 2});
  const auto nights = readNights(history_);
  ASSERT_EQ(nights->vanished.size(), 1u);
  EXPECT_EQ(nights->vanished[0].repeat, "op-harness bench --case 'Relu/f32[2]'");
}

/// As `./nightly` draws a sample of the cases each night.
TEST_F(VanishedTest, SamplesDoNotVanish) {
  for (const double share : {0.5, 0.75, 0.9, 0.97}) {
    std::filesystem::remove(history_);
    harness::Rng rng(5);
    for (int number = 1; number <= 25; ++number) {
      std::string lines;
      std::istringstream all(RunText{.id = fmt::format("{:016x}", ++runs_),
                                     .night = fmt::format("2026-01-{:02}", number),
                                     .started = fmt::format("2026-01-{:02}T00:00:00Z", number),
                                     .command = "check",
                                     .kind = "check",
                                     .cases = 0}
                                 .text());
      for (std::string line; std::getline(all, line);) {
        if (line.find("\"summary\"") != std::string::npos)
          for (int i = 0; i < 200; ++i)
            if (rng.uniform() < share)
              lines += fmt::format(
                  R"({{"record":"case","run":"{:016x}","kind":"check","id":"Relu/f32[{}]","op":"Relu","backend":"cpu","status":"pass"}})"
                  "\n",
                  runs_, i);
        lines += line + "\n";
      }
      add(lines);
      EXPECT_EQ(vanished(), Texts()) << "night " << number << ", share " << share;
    }
  }
}

/// `planned` is one more than the lines: the night was killed.
TEST_F(VanishedTest, AKilledNightNamesNothingAndDoesNotCount) {
  nights(1, 9, {.cases = 6});
  const auto killed = [&](int number) {
    RunText text{.id = fmt::format("{:016x}", ++runs_),
                 .night = fmt::format("2026-01-{:02}", number),
                 .started = fmt::format("2026-01-{:02}T00:00:00Z", number),
                 .cases = 6};
    std::string lines = text.text();
    lines.resize(lines.find(R"("id":"Relu/f32[3]")"));
    add(lines.substr(0, lines.rfind('\n') + 1));
  };
  for (int number = 10; number <= 13; ++number) {
    killed(number);
    EXPECT_EQ(readNights(history_)->rows.front().end(), "cut off: 1 of 1 run did not reach its end");
    EXPECT_EQ(vanished(), Texts()) << number;
  }
  night(14, {.cases = 6});
  EXPECT_EQ(vanished(), Texts());
  night(15, {.cases = 5});
  EXPECT_EQ(vanished(), Texts{"bench Relu/f32[5] on cpu: last measured 2026-01-14, on 10 of the 10 nights before"});
}

TEST_F(VanishedTest, ANewDriverIsTheSameDevice) {
  nights(1, 5, {.driver = "driver 1", .cases = 3});
  nights(6, 10, {.driver = "driver 2", .cases = 3});
  night(11, {.driver = "driver 3", .cases = 3});
  EXPECT_EQ(vanished(), Texts());
  night(12, {.driver = "driver 4", .cases = 2});
  EXPECT_EQ(vanished(), Texts{"bench Relu/f32[2] on cpu: last measured 2026-01-11, on 10 of the 10 nights before"});
}

TEST_F(VanishedTest, AKindOrOptionThatDidNotRunTonightIsNotMissed) {
  for (int number = 1; number <= 10; ++number) {
    night(number, {.cases = 3});
    night(number, {.command = "check", .kind = "check", .cases = 3});
    night(number, {.command = "bench --mask no-fp16", .cases = 3});
  }
  night(11, {.cases = 3});
  EXPECT_EQ(vanished(), Texts());
  night(12, {.command = "bench --mask no-fp16", .cases = 2});
  EXPECT_EQ(vanished(), Texts{"bench Relu/f32[2] on cpu --mask no-fp16: last measured 2026-01-10, on 10 of the 10 "
                              "nights before"});
}

TEST_F(VanishedTest, ACaseThatWasRefusedEveryNightWasNotMeasured) {
  nights(1, 10, {.status = "unsupported", .cases = 3, .timed = false});
  night(11, {.status = "unsupported", .cases = 2, .timed = false});
  EXPECT_EQ(vanished(), Texts());
}

TEST_F(VanishedTest, JudgeAndPageSayIt) {
  nights(1, 10, {.cases = 3});
  night(11, {.cases = 2});
  std::string said;
  EXPECT_EQ(run("judge --history " + history_, &said), 0) << said;
  EXPECT_NE(said.find("vanished bench Relu/f32[2] on cpu: last measured 2026-01-10"), std::string::npos) << said;
  const std::string page = folder_ + "/index.html";
  ASSERT_EQ(run("build --history " + history_ + " --output " + page, &said), 0) << said;
  EXPECT_NE(said.find("(0 for the worse), 1 case vanished; "), std::string::npos) << said;
  const std::string html = contents(page);
  EXPECT_NE(html.find("<h3 id=\"vanished\">"), std::string::npos);
  EXPECT_NE(html.find("<td class=\"n\">10 of 10</td>"), std::string::npos);
  EXPECT_NE(html.find("<td>complete</td>"), std::string::npos);
}

}  // namespace
}  // namespace opkit::reports
