// op-report demo: each planted change is found by op-report's own means, and nothing else is.
#include "reports/demo/demo_nights.h"
#include "reports/demo/planted.h"
#include "reports/history/judged.h"
#include "reports/history/nights.h"
#include "reports/testing/results_text.h"

namespace opkit::reports {

std::string opReport() { return partOfBuild(OPKIT_OP_REPORT); }

namespace demo {
namespace {

/// The demonstration, made once for all tests of one process.
struct Made {
  Made() {
    std::filesystem::remove_all(folder);
    const std::string log = folder + ".log";
    const auto run = [&](const std::string& arguments, std::string& output) {
      const int status = std::system(fmt::format("{} {} >{} 2>&1", opReport(), arguments, log).c_str());
      std::ifstream stream(log);
      output = {std::istreambuf_iterator<char>(stream), {}};
      return WEXITSTATUS(status);
    };
    code = run("demo " + folder, said);
    judgeCode = run("detect --history " + history, judged);
    std::ifstream stream(folder + "/index.html");
    page = {std::istreambuf_iterator<char>(stream), {}};
    if (auto read = readNights(history)) nights = *std::move(read);
  }
  ~Made() {
    std::filesystem::remove_all(folder);
    std::filesystem::remove(folder + ".log");
  }

  const std::string folder = fmt::format("{}op_report_demo_{}", testing::TempDir(), getpid());
  const std::string history = folder + "/history.sqlite";
  int code = -1, judgeCode = -1;
  std::string said, judged, page;
  Nights nights;
};

const Made& made() {
  static const Made one;
  return one;
}

/// Lines from the one that begins with `begin` to the next that is not indented.
std::string findingOf(const std::string& text, const std::string& begin) {
  const size_t at = text.find("\n" + begin);
  if (at == std::string::npos) return "";
  size_t end = at + 1;
  do end = text.find('\n', end) + 1;
  while (end > 0 && text.compare(end, 2, "  ") == 0);
  return text.substr(at + 1, end - at - 1);
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

std::vector<std::string> statusesOf(const std::string& history, const std::string& op, const std::string& backend) {
  std::vector<std::string> statuses;
  const auto store = Store::open(history, Database::Mode::Read);
  auto rows = store->database().prepare(
      "SELECT status FROM results WHERE kind = 'check' AND op = ? AND backend = ? ORDER BY at");
  rows->bind(op, backend);
  while (*rows->step()) statuses.push_back(rows->text(0));
  return statuses;
}

TEST(DemoTest, WritesAPageThatSaysFirstThatNothingWasMeasured) {
  ASSERT_EQ(made().code, 0) << made().said;
  EXPECT_TRUE(has(made().said, "60 nights")) << made().said;
  const size_t warning = made().page.find("DEMONSTRATION: "), finding = made().page.find("<table>");
  ASSERT_NE(warning, std::string::npos);
  EXPECT_LT(warning, finding);
  EXPECT_TRUE(has(made().page, "vulkan (demonstration device)"));
  std::string note;
  const std::string rebuilt = made().folder + ".html";
  ASSERT_EQ(std::system(fmt::format("{} build --history {} --output {} 2>{}.note >/dev/null", opReport(),
                                    made().history, rebuilt, made().folder)
                            .c_str()),
            0);
  std::ifstream stream(made().folder + ".note");
  std::getline(stream, note);
  EXPECT_TRUE(has(note, "note: DEMONSTRATION: ")) << note;
  std::filesystem::remove(rebuilt);
  std::filesystem::remove(made().folder + ".note");
}

TEST(DemoTest, PrintsWhatItPlantedAndCommandsThatRun) {
  for (const Planted& one : planted()) EXPECT_TRUE(has(made().said, one.look)) << one.name;
  size_t commands = 0;
  for (size_t at = 0; (at = made().said.find("\n  op-report ", at)) != std::string::npos; ++commands) {
    const size_t begin = at + std::string("\n  op-report ").size();
    at = made().said.find('\n', begin);
    const std::string command = opReport() + " " + made().said.substr(begin, at - begin);
    const int code = WEXITSTATUS(std::system((command + " >/dev/null 2>&1").c_str()));
    EXPECT_EQ(code, has(command, " detect ") ? 1 : 0) << command;
  }
  EXPECT_EQ(commands, 4u);
  std::filesystem::remove(made().folder + "/page.html");
}

TEST(DemoTest, TheSlowKernelIsNewAndTheCodeIsTheSuspect) {
  EXPECT_EQ(made().judgeCode, 1);
  const std::string finding = findingOf(made().judged, "new worse: 2 series of Softmax on vulkan");
  EXPECT_TRUE(has(finding, "suspect  the code")) << made().judged;
  EXPECT_TRUE(has(finding, fmt::format("between {} (", nightName(2)))) << finding;
  EXPECT_TRUE(has(finding, fmt::format(") and {} (", nightName(1)))) << finding;
  EXPECT_TRUE(has(finding, "compare  git worktree add")) << finding;
  EXPECT_TRUE(has(made().page, "First: worse: 2 series of Softmax on vulkan"));
}

TEST(DemoTest, TheLostDigitIsKnown) {
  const std::string finding = findingOf(made().judged, "worse: 4 series of LayerNormalization on cpu, nmse 64 times");
  EXPECT_TRUE(has(finding, "margin 8 times")) << made().judged;
  EXPECT_TRUE(has(finding, fmt::format(") and {} (", nightName(6)))) << finding;
  EXPECT_TRUE(has(finding, "suspect  the code")) << finding;
}

TEST(DemoTest, TheNewDriverIsTheSuspectOfManySeries) {
  const std::string& judged = made().judged;
  const size_t suspect = judged.find("suspect  the environment: driver"), begin = judged.rfind("\nworse: ", suspect);
  ASSERT_TRUE(suspect != std::string::npos && begin != std::string::npos) << judged;
  const std::string finding = judged.substr(begin + 1, suspect - begin);
  EXPECT_GE(std::stoul(finding.substr(std::string("worse: ").size())), 40u) << finding;
  EXPECT_TRUE(has(finding, " series on vulkan, execute")) << finding;
  EXPECT_TRUE(has(finding, fmt::format(") and {} (", nightName(planted(Change::Driver).first)))) << finding;
}

TEST(DemoTest, NothingElseIsWorse) {
  size_t worse = 0;
  for (size_t at = 0; (at = made().judged.find("worse: ", at)) != std::string::npos; ++at) ++worse;
  EXPECT_EQ(worse, 3u) << made().judged;
  EXPECT_TRUE(has(made().judged, "2 new findings (1 worse); ")) << made().judged;
}

TEST(DemoTest, TheFlakeIsKnownAndNoFailure) {
  const std::vector<std::string> statuses = statusesOf(made().history, "GridSample", "vulkan");
  ASSERT_EQ(statuses.size(), 60u);
  EXPECT_EQ(std::vector(statuses.end() - 6, statuses.end()),
            (std::vector<std::string>{"pass", "fail", "pass", "pass", "pass", "flake"}));
  EXPECT_TRUE(has(made().page, "GREEN: ") && has(made().page, "1 flaky, no other failed"));
  EXPECT_TRUE(has(made().page, "vulkan-demonstration-device.flakes:1"));
}

TEST(DemoTest, TheMendedFaultIsTheOneStatusThatChanged) {
  ASSERT_EQ(made().nights.changes.size(), 1u);
  const StatusChange& change = made().nights.changes.front();
  EXPECT_TRUE(change.caseId.starts_with("Resize")) << change.caseId;
  EXPECT_EQ(change.before + " " + change.after, "fail pass");
  EXPECT_FALSE(change.worse);
  EXPECT_TRUE(has(made().page, "<td>fail</td><td>pass</td>"));
}

TEST(DemoTest, TheKilledNightIsCutOff) {
  const size_t killed = planted(Change::Killed).first;
  for (size_t ago = 0; ago < made().nights.rows.size(); ++ago) {
    const NightRow& night = made().nights.rows[ago];
    EXPECT_EQ(night.cut, ago == killed) << night.name;
    EXPECT_EQ(night.name, nightName(ago));
  }
  ASSERT_GT(made().nights.rows.size(), killed + 1);
  EXPECT_LT(made().nights.rows[killed].recorded, made().nights.rows[killed + 1].recorded / 2);
  EXPECT_TRUE(has(made().page, "<td class=\"bad\">cut off: 1 of 4 runs did not reach its end</td>"));
}

TEST(DemoTest, TheVanishedCaseIsNamed) {
  ASSERT_EQ(made().nights.vanished.size(), 1u);
  const Vanished& vanished = made().nights.vanished.front();
  EXPECT_TRUE(vanished.caseId.starts_with("ConvTranspose")) << vanished.caseId;
  EXPECT_EQ(vanished.kind + " " + vanished.backend + " " + vanished.lastNight, "bench vulkan " + nightName(1));
  EXPECT_TRUE(has(findingOf(made().judged, "vanished bench ConvTranspose"), "op-harness bench --backend vulkan"))
      << made().judged;
  EXPECT_TRUE(has(made().page, "1 case vanished; ") && has(made().page, "id=\"vanished\""));
}

class DemoFolderTest : public OpReportTest {};

/// A night cut off in the middle lacks half of its cases; they are not gone, neither then nor the night after.
TEST_F(DemoFolderTest, NoCaseVanishesInOrAfterTheKilledNight) {
  auto nights = DemoNights::create({});
  ASSERT_TRUE(nights) << nights.error().message();
  const size_t killed = planted(Change::Killed).first;
  for (size_t ago = 60; ago-- + 1 > killed;) {
    const std::string path = file("");
    std::filesystem::remove(path);
    ASSERT_TRUE((*nights)->write(path).isOk());
    std::vector<Results> results(1);
    ASSERT_TRUE(readResults(path, results[0], {.keepLines = true}).isOk());
    ASSERT_TRUE(Store::addTo(history_, results));
    std::filesystem::remove(path);
    if (ago > killed) continue;
    const auto read = readNights(history_);
    ASSERT_TRUE(read);
    EXPECT_EQ(read->rows.front().cut, ago == killed);
    EXPECT_TRUE(read->vanished.empty()) << ago << ": " << read->vanished.front().what();
  }
}

TEST_F(DemoFolderTest, EqualOptionsGiveEqualBytes) {
  for (const char* name : {"/a", "/b"}) {
    std::filesystem::create_directory(folder_ + name);
    ASSERT_TRUE(writeDemo(folder_ + name, {.nights = 2}));
  }
  const std::string results = contents(folder_ + "/a/results.jsonl");
  EXPECT_GT(results.size(), 100'000u);
  EXPECT_EQ(results, contents(folder_ + "/b/results.jsonl"));
}

TEST_F(DemoFolderTest, DrawsAsManySeriesAndNightsAsAsked) {
  std::string said;
  ASSERT_EQ(run("demo " + folder_ + "/large --series 303 --nights 12", &said), 0) << said;
  EXPECT_TRUE(has(said, "12 nights") && has(said, "303 series")) << said;
  EXPECT_FALSE(has(said, "Planted")) << said;
  ASSERT_EQ(run("history --kind bench --metric create,resizeCold,resizeWarm,executeWall,executeDevice --history " +
                    folder_ + "/large/history.sqlite",
                &said),
            0);
  EXPECT_TRUE(has(said, "303 series, 12 nights")) << said.substr(said.size() - 200);
}

TEST_F(DemoFolderTest, RefusesAFolderWithFilesInOneLine) {
  const std::string full = folder_ + "/full", plain = file("text");
  std::filesystem::create_directory(full);
  std::ofstream(full + "/mine.txt") << "mine";
  std::string said;
  for (const std::string& path : {full, plain, plain + "/below", std::string("''")}) {
    EXPECT_EQ(run("demo " + path, &said), 2) << path;
    EXPECT_EQ(std::count(said.begin(), said.end(), '\n'), 1) << said;
  }
  EXPECT_EQ(contents(full + "/mine.txt"), "mine");
  EXPECT_EQ(contents(plain), "text");
  EXPECT_EQ(run("demo", &said), 2);
  EXPECT_EQ(run("demo " + folder_ + "/new --nights 0", &said), 2);
  EXPECT_FALSE(std::filesystem::exists(folder_ + "/new"));
  std::filesystem::create_directory(folder_ + "/empty");
  EXPECT_EQ(run("demo " + folder_ + "/empty --nights 3", &said), 0) << said;
}

/// Twenty other draws of the same nights: tonight the slow kernel is new in 15 of them, another series in 1.
TEST_F(DemoFolderTest, OtherSeedsSayTheSame) {
  size_t slow = 0, other = 0;  // seeds
  for (uint64_t seed = 101; seed <= 120; ++seed) {
    const std::string folder = fmt::format("{}/{}", folder_, seed);
    std::filesystem::create_directory(folder);
    ASSERT_TRUE(writeDemo(folder, {.seed = seed}));
    const auto store = Store::open(folder + "/history.sqlite", Database::Mode::Read);
    const auto judged = judgeStore(*store);
    ASSERT_TRUE(judged);
    bool isSlow = false, isOther = false;
    for (const JudgedFinding& finding : judged->findings)
      for (const std::string& series : finding.series) {
        if (!finding.fresh || !finding.worse || finding.suspect != kTheCode) continue;
        (series.starts_with("Softmax") ? isSlow : isOther) = true;
        if (!series.starts_with("Softmax")) fmt::print("seed {}: {}\n", seed, series);
      }
    slow += isSlow, other += isOther;
    EXPECT_EQ(readNights(folder + "/history.sqlite")->vanished.size(), 1u) << seed;
    std::filesystem::remove_all(folder);
  }
  fmt::print("the slow kernel is new in {} of 20, another series in {}\n", slow, other);
  EXPECT_GE(slow, 12u);
  EXPECT_LE(other, 5u);
}

}  // namespace
}  // namespace demo
}  // namespace opkit::reports
