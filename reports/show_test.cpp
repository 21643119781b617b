// op-report show: one operator in the terminal.
#include <cmath>
#include <limits>

#include "reports/terminal.h"
#include "reports/testing/results_text.h"

namespace opkit::reports {
namespace {

class ShowTest : public OpReportTest {
 protected:
  int show(const std::string& arguments, std::string* said, const std::string& locale = "C.UTF-8") {
    return run("show " + arguments, said, "LC_ALL=" + locale);
  }
  /// Adds a night of seven process runs that take `ns`, with a little noise.
  void night(const std::string& name, int number, double ns, const std::string& driver = "driver 1") {
    std::string lines;
    for (int i = 0; i < 7; ++i)
      lines += RunText{.id = fmt::format("{:08x}{:08x}", number, i),
                       .night = name,
                       .started = fmt::format("{}T00:{:02}:00Z", name, i),
                       .ended = fmt::format("{}T00:{:02}:30Z", name, i),
                       .driver = driver,
                       .executeNs = ns * (1 + 0.002 * ((number * 5 + i * 3) % 7))}
                   .text();
    ASSERT_EQ(run("add --history " + history_ + " " + file(lines)), 0);
  }
};

/// The longest line in characters, without lines of commands.
size_t widest(const std::string& text) {
  size_t most = 0;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);)
    if (line.find("repeat: ") == std::string::npos) most = std::max(most, charactersOf(line));
  return most;
}

constexpr const char* kTwoBackends =
    R"({"record":"run","schema":3,"run":"r1","command":"check","planned":{"cpu":4,"vulkan":4}}
{"record":"case","run":"r1","kind":"check","id":"Relu/f32[3]","op":"Relu","backend":"cpu","status":"pass","provider":"opkit","kernel":"vector","accuracy":{"margin":0.25,"maxUlp":1.5}}
{"record":"case","run":"r1","kind":"check","id":"Relu/f32[4]","op":"Relu","backend":"cpu","status":"pass","provider":"onednn","accuracy":{"margin":0.75,"maxUlp":0.5},"notRun":{"canary":"the kernel owns its memory"}}
{"record":"case","run":"r1","kind":"check","id":"Relu/f32[3]","op":"Relu","backend":"vulkan","status":"unsupported","reason":"no fp64"}
{"record":"case","run":"r1","kind":"check","id":"Relu/f32[4]","op":"Relu","backend":"vulkan","status":"skip","reason":"named by a file"}
{"record":"case","run":"r1","kind":"check","id":"Relu/f32[5]","op":"Relu","backend":"vulkan","status":"fail","failedCheck":"poison","reason":"2 of 4 unwritten","diagnosis":{"kind":"tail","text":"the last group writes too few"},"repro":"op-harness check --case 'Relu/f32[5]'"}
{"record":"case","run":"r1","kind":"check","id":"Gelu/f32[3]","op":"Gelu","backend":"cpu","status":"fail","reason":"another operator"}
{"record":"case","run":"r1","kind":"bench","id":"Relu/f32[3]","op":"Relu","backend":"cpu","provider":"opkit","kernel":"vector","status":"pass","flops":4e6,"bytes":1e6,"roofline":0.5,"times":{"executeWall":{"min":1900000,"median":2000000,"samples":[1900000,2000000]}}}
{"record":"case","run":"r1","kind":"bench","id":"Relu/f32[3]","op":"Relu","backend":"vulkan","provider":"opkit","status":"pass","times":{"executeWall":{"min":5,"median":6},"executeDevice":{"min":3,"median":4}}}
{"record":"summary","run":"r1","outcome":"complete"}
)";

constexpr const char* kShown = R"(Relu
  cpu: 2 passed
    worst share of the bound 75 % at Relu/f32[4]
    worst ULP 1.5
    kernels onednn, opkit/vector
  vulkan: 1 failed + 1 unsupported + 1 skipped

Failures, one for each reason
  1 fail in poison, check on vulkan: 2 of 4 unwritten
    because the last group writes too few
    Relu/f32[5]
    repeat: op-harness check --case 'Relu/f32[5]'

What did not run
  - 1 case, canary: the kernel owns its memory
  - 1 case, refused on vulkan: no fp64
  - 1 case, skipped on vulkan: named by a file

Times: medians; of several process runs, the middle one by execute time
  Relu/f32[3]
    - cpu opkit/vector: execute 2 ms, 2 GFLOP/s, 0.5 GB/s, 50 % of the roof
    - vulkan opkit: execute 6 ns, device 4 ns
)";

TEST_F(ShowTest, AnOperatorHasItsBackendsFailuresAndTimes) {
  std::string said;
  EXPECT_EQ(show("Relu " + file(kTwoBackends), &said), 0);
  EXPECT_EQ(said, kShown);
  EXPECT_EQ(show("Relu " + file(kTwoBackends), &said, "C"), 0);
  EXPECT_EQ(said, kShown) << "nothing here is beyond ASCII";
}

TEST_F(ShowTest, AnUnknownOperatorIsOneLineWithNearNames) {
  std::string said;
  EXPECT_EQ(show("relo " + file(kTwoBackends), &said), 3);
  EXPECT_EQ(said, "op-report: no checked or timed case of operator 'relo' among 2 operators; did you mean Relu?\n");
  EXPECT_EQ(show("Convolution " + file(kTwoBackends), &said), 3);
  EXPECT_EQ(said, "op-report: no checked or timed case of operator 'Convolution' among 2 operators\n");
}

TEST_F(ShowTest, BadInputIsOneLine) {
  std::string said;
  for (const std::string& arguments : std::vector<std::string>{
           "Relu", "Relu /no/such/file", "Relu --history /no/such/file", "Relu " + file("no json\n")}) {
    EXPECT_EQ(show(arguments, &said), 2) << arguments;
    EXPECT_EQ(std::count(said.begin(), said.end(), '\n'), 1) << said;
  }
}

TEST_F(ShowTest, TheNightsHaveALineWithMarks) {
  for (int i = 1; i <= 12; ++i) night(fmt::format("2026-01-{:02}", i), i, 100'000);
  for (int i = 13; i <= 15; ++i) night(fmt::format("2026-01-{:02}", i), i, 130'000, i < 15 ? "driver 1" : "driver 2");
  std::string said;
  ASSERT_EQ(show("Relu --history " + history_, &said), 0) << said;
  EXPECT_NE(said.find("\n      ▁▁▁▁▁▁▁▁▁▁▁▁███\n                  ^ |\n"), std::string::npos) << said;
  EXPECT_NE(
      said.find("executeWall: first 100 µs on 2026-01-01, least 100 µs on 2026-01-01, last 130 µs on 2026-01-15\n"),
      std::string::npos)
      << said;
  EXPECT_NE(said.find("\n      ^ 2026-01-13: 1.3 times as long ("), std::string::npos) << said;
  EXPECT_NE(said.find("\n      | 2026-01-15: driver changed\n"), std::string::npos) << said;
  EXPECT_LE(widest(said), 100U);
  ASSERT_EQ(show("Relu --history " + history_, &said, "C"), 0) << said;
  EXPECT_NE(said.find("\n      000000000000999\n"), std::string::npos) << said;
  EXPECT_TRUE(std::ranges::all_of(said, [](char c) { return static_cast<unsigned char>(c) < 0x80; })) << said;
}

TEST_F(ShowTest, SixtyNightsAreShownAndTheThirtiethBeforeIsCompared) {
  std::string text;
  for (int i = 1; i <= 70; ++i) {
    if (i == 68) continue;  // the machine was off
    const std::string name = fmt::format("2026-{:02}-{:02}", 1 + (i - 1) / 28, 1 + (i - 1) % 28);
    text += RunText{.id = fmt::format("{:016x}", i),
                    .night = name,
                    .started = name + "T00:00:00Z",
                    .ended = name + "T00:01:00Z",
                    .executeNs = 100'000.0 + 1000 * i,
                    .cases = i == 50 ? 1 : 2}
                .text();
  }
  ASSERT_EQ(run("add --history " + history_ + " " + file(text)), 0);
  std::string said;
  ASSERT_EQ(show("Relu --history " + history_, &said, "C"), 0) << said;
  // Of 69 nights the last 60; the second case has no value on one of them. Night 70 after night 39: 170 / 139.
  EXPECT_NE(said.find("first 110 us on 2026-01-10, least 110 us on 2026-01-10, last 170 us on"), std::string::npos)
      << said;
  EXPECT_NE(said.find("2026-03-14; +22.3 % against 2026-02-11 (30 nights ago)\n"), std::string::npos) << said;
  std::istringstream lines(said);
  size_t full = 0, withBlank = 0;
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with("      0") && line.ends_with("9")) {
      EXPECT_EQ(line.size(), 66U) << line;
      ++(line.find(' ', 6) == std::string::npos ? full : withBlank);
    }
  EXPECT_EQ(full, 1U) << said;
  EXPECT_EQ(withBlank, 1U) << said;
}

TEST_F(ShowTest, LongIdsAndReasonsFit) {
  const std::string id = "Relu/f32[" + std::string(300, '1') + "]";
  const std::string text = fmt::format(
      R"({{"record":"case","kind":"check","id":"{0}","op":"Relu","backend":"cpu","status":"fail","reason":"{1}","accuracy":{{"margin":2}}}}
{{"record":"case","kind":"bench","id":"{0}","op":"Relu","backend":"cpu","status":"pass","provider":"{1}","times":{{"executeWall":{{"median":1}}}}}}
)",
      id, std::string(200, 'a') + " " + std::string(150, 'b') + R"( \u001b[31mred\u202e)");
  std::string said;
  ASSERT_EQ(show("Relu " + file(text), &said), 0) << said;
  EXPECT_EQ(widest(said), 100U) << said;
  EXPECT_NE(said.find("11…11"), std::string::npos) << said;
  EXPECT_NE(said.find("\\x1b[31mred\\u202e"), std::string::npos) << said;
  EXPECT_EQ(said.find('\x1b'), std::string::npos) << said;
}

TEST(Terminal, LevelsSpanTheRange) {
  const Terminal blocks{.utf8 = true}, digits{.utf8 = false};
  const std::vector<double> values = {1, NAN, 8, 4, INFINITY};
  EXPECT_EQ(blocks.levels(values), "▁ █▄ ");
  EXPECT_EQ(digits.levels(values), "0 94 ");
  EXPECT_EQ(digits.levels(std::vector<double>{5, 5}), "00");
  EXPECT_EQ(digits.levels(std::vector<double>{}), "");
  constexpr double kMost = std::numeric_limits<double>::max();
  EXPECT_EQ(digits.levels(std::vector<double>{-kMost, 0, kMost}), "059");
}

TEST(Terminal, TextsAreCutInTheMiddleAndBrokenAtSpaces) {
  const Terminal wide{.utf8 = true, .columns = 12}, ascii{.utf8 = false, .columns = 12};
  EXPECT_EQ(wide.cut("0123456789", 10), "0123456789");
  EXPECT_EQ(wide.cut("0123456789", 7), "012…789");
  EXPECT_EQ(ascii.cut("0123456789", 7), "01...89");
  EXPECT_EQ(wide.cut("µµµµµ", 3), "µ…µ");
  using Wrapped = std::vector<std::string>;
  EXPECT_EQ(wide.wrap("one two three four", 4, "  -> "), (Wrapped{"  -> one two", "    three", "    four"}));
  EXPECT_EQ(wide.wrap("µµµµµµµµµµµµµ x", 0), (Wrapped{"µµµµµµµµµµµµ", "µ x"}));
  EXPECT_EQ(wide.wrap("", 2), (Wrapped{"  "}));
}

TEST(Terminal, NothingSteersIt) {
  const Terminal wide{.utf8 = true}, ascii{.utf8 = false};
  EXPECT_EQ(wide.plain("a\nb\x1b[2J\x7f"), "a b\\x1b[2J\\x7f");
  EXPECT_EQ(wide.plain(std::string_view("\0", 1)), "\\x00");
  EXPECT_EQ(wide.plain("\xC2\x9B"), "\\x9b");
  EXPECT_EQ(wide.plain("\xE2\x80\xAE"
                       "µ→"),
            "\\u202eµ→");
  EXPECT_EQ(ascii.plain("µ→"), "u?");
}

}  // namespace
}  // namespace opkit::reports
