#include <unistd.h>

#include <cmath>

#include "reports/history/compare.h"
#include "reports/history/store.h"
#include "reports/testing/results_text.h"

namespace opkit::reports {

std::string opReport() { return partOfBuild(OPKIT_OP_REPORT); }

namespace {

class HistoryTest : public OpReportTest {
 protected:
  int add(const std::string& text, std::string* said = nullptr) {
    return run("add --history " + history_ + " " + file(text), said);
  }
  std::vector<Series> series(const SeriesFilter& filter = {}) {
    const auto store = Store::open(history_, Database::Mode::Read);
    EXPECT_TRUE(store) << store.error().message();
    if (!store) return {};
    nights_ = *store->nights();
    auto all = store->series(filter, environments_);
    EXPECT_TRUE(all) << all.error().message();
    return all ? *std::move(all) : std::vector<Series>();
  }
  /// One line, exit code 2, and the history as it was.
  void expectRefused(const std::string& arguments, const std::string& expected, const std::string& before = "") {
    const bool existed = std::filesystem::exists(history_);
    const std::string was = contents(history_);
    std::string said;
    EXPECT_EQ(run(arguments, &said, before), 2) << said;
    EXPECT_EQ(std::count(said.begin(), said.end(), '\n'), 1) << said;
    EXPECT_NE(said.find(expected), std::string::npos) << said;
    EXPECT_EQ(std::filesystem::exists(history_), existed) << arguments;
    EXPECT_TRUE(contents(history_) == was) << "the history changed: " << arguments;
  }

  std::vector<Night> nights_;
  std::vector<Environment> environments_;
};

TEST_F(HistoryTest, AddingTwiceChangesNothing) {
  const std::string text = RunText{.id = "a"}.text() + RunText{.id = "b"}.text();
  std::string said;
  ASSERT_EQ(add(text, &said), 0) << said;
  EXPECT_NE(said.find("2 runs added, 0 continued, 0 known"), std::string::npos) << said;
  const std::string before = contents(history_);
  ASSERT_EQ(add(text, &said), 0) << said;
  EXPECT_NE(said.find("0 runs added, 0 continued, 2 known"), std::string::npos) << said;
  EXPECT_TRUE(contents(history_) == before);
}

TEST_F(HistoryTest, SeriesHaveNightsWithTheValuesOfTheirProcessRuns) {
  const std::string first =
      RunText{.id = "a", .executeNs = 1000, .loopNs = 400}.text() +
      RunText{.id = "b", .started = "2026-01-01T00:30:00Z", .executeNs = 1100, .loopNs = 600}.text();
  const std::string second = RunText{.id = "c",
                                     .started = "2026-01-02T00:00:00Z",
                                     .ended = "2026-01-02T01:00:00Z",
                                     .commit = "c2",
                                     .executeNs = 2000}
                                 .text();
  ASSERT_EQ(add(second), 0);  // the later night first
  ASSERT_EQ(add(first), 0);
  const auto all = series({.caseId = "Relu/f32[1]", .metrics = {"executeWall"}});
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].key.provider, "opkit");
  EXPECT_EQ(all[0].key.machine, "CPU, 4 cores");
  ASSERT_EQ(nights_.size(), 2u);
  EXPECT_EQ(nights_[0].name, "2026-01-01");
  EXPECT_EQ(nights_[1].commit, "c2");
  ASSERT_EQ(all[0].points.size(), 2u);
  const std::span<const double> values = all[0].at(all[0].points[0]);
  EXPECT_EQ(std::vector<double>(values.begin(), values.end()), (std::vector<double>{1001, 1101}));
  EXPECT_EQ(all[0].at(all[0].points[1])[0], 2001);
  const Environment& environment = environments_[all[0].points[0].environment];
  EXPECT_EQ(environment.loopNs, 500) << "the median of the night's runs";
  EXPECT_EQ(environment.compiler, "g++");
  EXPECT_EQ(environment.driver, "driver 1");
  EXPECT_EQ(series().size(), 2u * 7) << "executeWall, status, bits, margin, maxUlp, maxAbs, nmse";
}

TEST_F(HistoryTest, ManySeriesAreReadInPartsWithoutLoss) {
  constexpr int kCases = 1501;  // enough for several threads, and no multiple of their number
  ASSERT_EQ(add(RunText{.id = "a", .executeNs = 100, .cases = kCases}.text()), 0);
  ASSERT_EQ(add(RunText{.id = "b", .started = "2026-01-02T00:00:00Z", .executeNs = 200, .cases = kCases}.text()), 0);
  const auto all = series({.metrics = {"executeWall"}});
  ASSERT_EQ(all.size(), size_t{kCases});
  for (size_t i = 0; i < all.size(); ++i) {
    EXPECT_EQ(all[i].key.caseId, fmt::format("Relu/f32[{}]", i));
    EXPECT_EQ(all[i].values, (std::vector<double>{100.0 + static_cast<double>(i), 200.0 + static_cast<double>(i)}));
    ASSERT_EQ(all[i].points.size(), 2u);
    EXPECT_EQ(environments_.at(all[i].points[1].environment).loopNs, 500);
  }
}

TEST_F(HistoryTest, ExactMetricsAndWhatTellsSeriesApart) {
  ASSERT_EQ(add(RunText{.id = "a", .kind = "check"}.text()), 0);
  ASSERT_EQ(
      add(RunText{.id = "b", .commit = "c2", .kind = "check", .status = "crash", .digest = "ab00000000000000"}.text()),
      0);
  ASSERT_EQ(add(RunText{.id = "c", .command = "check --mask no-fp16", .kind = "check"}.text()), 0);
  ASSERT_EQ(add(RunText{.id = "d", .kind = "check", .driver = "driver 2"}.text()), 0);
  const auto status = series({.caseId = "Relu/f32[0]", .metrics = {"status"}});
  ASSERT_EQ(status.size(), 3u) << "the mask and the driver are part of the key";
  ASSERT_EQ(status[0].points.size(), 2u);
  EXPECT_EQ(status[0].at(status[0].points[0])[0], 0);
  EXPECT_EQ(status[0].at(status[0].points[1])[0], *rankOf(CaseStatus::Crash));
  EXPECT_EQ(status[1].key.options, "--mask no-fp16");
  const auto bits = series({.caseId = "Relu/f32[0]", .metrics = {"bits"}});
  EXPECT_NE(bits[0].at(bits[0].points[0])[0], bits[0].at(bits[0].points[1])[0]);
  EXPECT_EQ(series({.op = "Softmax"}).size(), 0u);
}

TEST_F(HistoryTest, NamedNightsReachBeyondMidnight) {
  ASSERT_EQ(add(RunText{.id = "a", .night = "monday", .started = "2026-01-01T23:59:00Z"}.text() +
                RunText{.id = "b", .night = "monday", .started = "2026-01-02T00:01:00Z"}.text()),
            0);
  const auto all = series({.caseId = "Relu/f32[0]", .metrics = {"executeWall"}});
  ASSERT_EQ(nights_.size(), 1u);
  EXPECT_EQ(nights_[0].name, "monday");
  EXPECT_EQ(all[0].values.size(), 2u);
}

TEST_F(HistoryTest, ARunThatWentOnIsContinued) {
  const std::string whole = RunText{.cases = 3}.text();
  const std::string part = whole.substr(0, whole.find("Relu/f32[2]"));
  std::string said;
  ASSERT_EQ(add(part.substr(0, part.rfind('\n') + 1), &said), 0) << said;
  EXPECT_EQ(series({.metrics = {"status"}}).size(), 2u);
  ASSERT_EQ(add(whole, &said), 0) << said;
  EXPECT_NE(said.find("0 runs added, 1 continued"), std::string::npos) << said;
  EXPECT_EQ(series({.metrics = {"status"}}).size(), 3u);
}

TEST_F(HistoryTest, AClockThatWentBackwardsIsAcceptedAndSaid) {
  const std::string text =
      RunText{.id = "a", .night = "n1", .started = "2026-01-01T12:00:00Z"}.text() +
      RunText{.id = "b", .night = "n2", .started = "2026-01-01T11:00:00Z", .ended = "2026-01-01T10:59:00Z"}.text();
  std::string said;
  ASSERT_EQ(add(text, &said), 0) << said;
  EXPECT_NE(said.find("run b began 3600 s before the run above it in its file: the clock went backwards; the file's "
                      "order is kept"),
            std::string::npos)
      << said;
  EXPECT_NE(said.find("run b ended 60 s before it began"), std::string::npos) << said;
  series();
  ASSERT_EQ(nights_.size(), 2u);
  EXPECT_EQ(nights_[0].name, "n1");
}

TEST_F(HistoryTest, BadResultsAreRefusedAndNothingIsAdded) {
  const std::string good = RunText{}.text(), add = "add --history " + history_ + " ";
  for (int round = 0; round < 2; ++round) {  // without a history, and with one
    const std::string cut = good.substr(0, good.size() - 20);
    expectRefused(add + file(good) + " " + file(RunText{.id = "x"}.text() + cut),
                  ":10: expected a line of JSON, found");
    expectRefused(add + file(good + R"({"record":"run","schema":4})"), ":6: expected schema 1 to 3, found 4");
    expectRefused(add + file(R"({"record":"plan","runs":1})"), "expected results of op-harness, found no run");
    expectRefused(add + folder_ + "/none.jsonl", "/none.jsonl: cannot be read");
    expectRefused(add + folder_, "cannot be read: it is a folder, not a file; expected a file");
    expectRefused(add + file(good) + " " + file(RunText{.executeNs = 2}.text()),
                  "run a (bench) comes twice with different content");
    ASSERT_EQ(run(add + file(good)), 0);
  }
  expectRefused(add + file(RunText{.executeNs = 2}.text()),
                "run a (bench) is known with other content: expected the 5 lines of then, found 5; nothing was added");
}

/// Rows of the columns, each as "a|b|c".
std::vector<std::string> rowsOf(const std::string& path, const std::string& sql, int columns) {
  const auto database = Database::open(path, Database::Mode::Read);
  EXPECT_TRUE(database) << database.error().message();
  auto statement = database->prepare(sql);
  EXPECT_TRUE(statement) << statement.error().message();
  std::vector<std::string> rows;
  while (*statement->step()) {
    std::string row;
    for (int i = 0; i < columns; ++i) row += (i ? "|" : "") + statement->text(i);
    rows.push_back(row);
  }
  return rows;
}

TEST_F(HistoryTest, AHistoryOfVersion1IsReadAndThenContinued) {
  ASSERT_TRUE(Database::open(history_, Database::Mode::Write)
                  ->execute(contents(std::string(OPKIT_SOURCE_DIR) + "/reports/testing/history1.sql"))
                  .isOk());
  constexpr const char* kOutcomes =
      "SELECT run, kind, case_id, backend, device, options, op, dtype, provider, kernel, status, reason, margin, "
      "max_abs, bits, shader, shader_bytes, arena_bytes, allocations, dispatches, repro FROM results ORDER BY 1, 3, 4";
  constexpr const char* kTimes = "SELECT run, case_id, provider, metric, ns FROM times ORDER BY 1, 2, 3, 4";
  const auto outcomes = rowsOf(history_, kOutcomes, 21), times = rowsOf(history_, kTimes, 5);
  ASSERT_EQ(outcomes.size(), 9u);
  const std::string before = contents(history_), page = folder_ + "/page.html";
  std::string said;
  ASSERT_EQ(run("build --history " + history_ + " --output " + page, &said), 0) << said;
  EXPECT_NE(said.find("GREEN: 9 cases recorded, none failed."), std::string::npos) << said;
  ASSERT_EQ(run("history --history " + history_ + " --op Softmax --metric margin", &said), 0) << said;
  EXPECT_NE(said.find("1 series, 1 nights"), std::string::npos) << said;
  EXPECT_EQ(series({.op = "Sign", .metrics = {"executeWall"}}).size(), 2u);
  EXPECT_TRUE(contents(history_) == before) << "a reader does not write";
  ASSERT_EQ(add(RunText{.id = "b", .started = "2026-11-28T00:00:00Z", .kind = "check"}.text()), 0);
  EXPECT_EQ(rowsOf(history_, "PRAGMA user_version", 1), std::vector<std::string>{"2"});
  EXPECT_EQ(rowsOf(history_, "PRAGMA integrity_check", 1), std::vector<std::string>{"ok"});
  auto after = rowsOf(history_, kOutcomes, 21);
  std::erase_if(after, [](const std::string& row) { return row.starts_with("b|"); });
  EXPECT_EQ(after, outcomes);
  EXPECT_GT(times.size(), 10u);
  EXPECT_EQ(rowsOf(history_, "SELECT * FROM times WHERE run = 'b'", 1).size(), 2u);
  auto timesAfter = rowsOf(history_, kTimes, 5);
  std::erase_if(timesAfter, [](const std::string& row) { return row.starts_with("b|"); });
  EXPECT_EQ(timesAfter, times);
}

TEST_F(HistoryTest, PlainPassesAreKeptAsRowsAlone) {
  const RunText passes{
      .id = "a", .command = "check", .kind = "check", .cases = 3000, .timed = false, .durationNs = 2500};
  ASSERT_EQ(add(passes.text()), 0);
  EXPECT_LT(std::stoul(rowsOf(history_, "SELECT bytes FROM lines", 1).at(0)), 1000u);
  EXPECT_LT(std::filesystem::file_size(history_), 3000u * 200);
  EXPECT_EQ(rowsOf(history_, "SELECT margin, us, bits, repro FROM results WHERE case_id = 'Relu/f32[7]'", 4),
            std::vector<std::string>{"0.25|3|aa00000000000000|op-harness check --case 'Relu/f32[7]'"});
  std::string said;
  ASSERT_EQ(run("build --history " + history_ + " --output " + folder_ + "/page.html", &said), 0) << said;
  EXPECT_NE(said.find("GREEN: 3000 cases recorded, none failed."), std::string::npos) << said;
  RunText failure = passes;
  failure.id = "b", failure.started = "2026-01-02T00:00:00Z", failure.commit = "c2", failure.status = "fail";
  const std::string text = failure.text();  // stopped before its end
  ASSERT_EQ(add(text.substr(0, text.find("Relu/f32[20]"))), 2) << "a line was cut";
  ASSERT_EQ(add(text.substr(0, text.rfind('\n', text.find("Relu/f32[20]")) + 1)), 0);
  ASSERT_EQ(run("build --history " + history_ + " --output " + folder_ + "/page.html", &said), 0) << said;
  EXPECT_NE(said.find("20 of 3000 planned cases"), std::string::npos) << said;
  EXPECT_EQ(rowsOf(history_,
                   "SELECT max(commit_id) FILTER (WHERE status = 'pass'), min(commit_id) FILTER (WHERE status = "
                   "'fail') FROM results WHERE case_id = 'Relu/f32[7]'",
                   2),
            std::vector<std::string>{"c1|c2"})
      << "the last good and the first bad commit";
}

TEST_F(HistoryTest, AFoldedSeriesStandsForThoseThatNeverDiffered) {
  const auto night = [&](int number, const std::string& driver, const std::string& digest) {
    const std::string day = fmt::format("2026-01-{:02}T00:00:00Z", number);
    std::string text = RunText{.id = fmt::format("{}", number),
                               .started = day,
                               .kind = "check",
                               .driver = driver,
                               .cases = 3,
                               .timed = false}
                           .text();
    const size_t line = text.find("Relu/f32[1]");
    return text.replace(text.find("aa00000000000000", line), 16, digest);
  };
  const auto count = [&](bool fold, const std::string& metric) {
    std::map<std::string, size_t> counts;
    for (const Series& one : series({.fold = fold}))
      if (one.key.metric != "status" && (metric.empty() || one.key.metric == metric))
        counts[one.key.caseId] += one.alike;
    return counts;
  };
  using Counts = std::map<std::string, size_t>;
  const Counts all = {{"Relu/f32[0]", 5}, {"Relu/f32[1]", 5}, {"Relu/f32[2]", 5}};
  ASSERT_EQ(add(night(1, "driver 1", "aa00000000000000") + night(2, "driver 1", "aa00000000000000")), 0);
  EXPECT_EQ(series().size(), 18u) << "status, margin, maxUlp, maxAbs, nmse, bits";
  EXPECT_EQ(series({.fold = true}).size(), 3u);
  EXPECT_EQ(count(true, ""), all);
  EXPECT_EQ(count(false, ""), all);
  ASSERT_EQ(add(night(3, "driver 2", "aa00000000000000")), 0);
  EXPECT_EQ(count(true, "bits"), Counts()) << "the same under two drivers";
  ASSERT_EQ(add(night(4, "driver 2", "bb00000000000000")), 0);
  EXPECT_EQ(count(true, "bits"), (Counts{{"Relu/f32[1]", 2}})) << "a series for each driver";
  std::string said;
  EXPECT_EQ(run("detect --history " + history_, &said), 0) << said;
  EXPECT_NE(said.find("15 series: 0 worse, 0 better, 15 same"), std::string::npos) << said;
  EXPECT_NE(said.find("bits changed, error did not"), std::string::npos) << said;
}

TEST_F(HistoryTest, RecentSeriesAreThoseOfTheLastNightsOfTheirDeviceAndOptions) {
  const auto night = [](int number, int cases, const std::string& command) {
    return RunText{.id = fmt::format("{}", number),
                   .started = fmt::format("2026-01-{:02}T00:00:00Z", number),
                   .command = command,
                   .kind = "check",
                   .cases = cases,
                   .timed = false}
        .text();
  };
  ASSERT_EQ(
      add(night(1, 1, "check --mask no-fp16") + night(2, 3, "check") + night(3, 2, "check") + night(4, 2, "check")), 0);
  const auto names = [&](size_t recentNights) {
    std::vector<std::string> found;
    for (const Series& one : series({.metrics = {"status"}, .recentNights = recentNights}))
      found.push_back(fmt::format("{} {}x{}", one.key.caseId, one.key.options, one.points.size()));
    return found;
  };
  using Names = std::vector<std::string>;
  const Names recent = {"Relu/f32[0] --mask no-fp16x1", "Relu/f32[0] x3", "Relu/f32[1] x3"};
  EXPECT_EQ(names(1), recent) << "with their older nights";
  EXPECT_EQ(names(2), recent);
  EXPECT_EQ(names(3).size(), 4u);
  EXPECT_EQ(names(0).size(), 4u);
}

TEST_F(HistoryTest, OtherFilesAreNoHistories) {
  const std::string good = file(RunText{}.text());
  const auto refused = [&](const std::string& expected) {
    expectRefused("add --history " + history_ + " " + good, expected);
    expectRefused("build --history " + history_ + " --output " + folder_ + "/page.html", expected);
    expectRefused("history --history " + history_, expected);
    EXPECT_FALSE(std::filesystem::exists(folder_ + "/page.html"));
  };
  std::ofstream(history_) << std::string(2000, 'x');
  refused("found no SQLite database");
  std::filesystem::remove(history_);
  const auto make = [&](const std::string& sql) {
    std::filesystem::remove(history_);
    ASSERT_TRUE(Database::open(history_, Database::Mode::Write)->execute(sql).isOk());
  };
  make("CREATE TABLE cats (name TEXT)");
  refused("found an SQLite file of another program");
  make(fmt::format("PRAGMA application_id = {}; PRAGMA user_version = 3; CREATE TABLE run (id INTEGER)", 0x4F504B54));
  refused("expected a history of version 1 or 2, found 3");
  std::filesystem::remove(history_);
  expectRefused("history --history " + history_, "expected a history of `op-report add`: cannot read '");
  std::filesystem::create_directory(history_);
  expectRefused("add --history " + history_ + " " + good, "it is a folder, not a file");
}

TEST_F(HistoryTest, AFullDiskAndAReadOnlyFolderLeaveNothingBehind) {
  const std::string big = file(RunText{.cases = 2000}.text());
  const std::string full = "ulimit -f 64;";  // blocks of 1 KiB
  expectRefused("add --history " + history_ + " " + big, "nothing was changed", full);
  ASSERT_EQ(add(RunText{.id = "b"}.text()), 0);
  expectRefused("add --history " + history_ + " " + big, "cannot be read or written: File too large", full);
  expectRefused("merge -o " + folder_ + "/all.jsonl " + big, "cannot write", full);
  EXPECT_FALSE(std::filesystem::exists(folder_ + "/all.jsonl"));
  EXPECT_EQ(series({.metrics = {"status"}}).size(), 2u);
  const std::string closed = geteuid() == 0 ? "/proc" : folder_ + "/closed";
  std::filesystem::create_directory(folder_ + "/closed");
  std::filesystem::permissions(folder_ + "/closed", std::filesystem::perms(0555));
  expectRefused("add --history " + closed + "/history.sqlite " + big, "/history.sqlite: cannot be opened");
  expectRefused("merge -o " + closed + "/all.jsonl " + big, "all.jsonl");
}

TEST_F(HistoryTest, ThePageOfAHistoryHasTheNewestNightAndWhatChanged) {
  const std::string page = folder_ + "/page.html";
  ASSERT_EQ(add(RunText{.id = "a", .night = "n1", .kind = "check"}.text()), 0);
  ASSERT_EQ(add(RunText{.id = "b", .night = "n2", .started = "2026-01-02T00:00:00Z", .kind = "check", .status = "fail"}
                    .text()),
            0);
  std::string said;
  ASSERT_EQ(run("build --history " + history_ + " --output " + page, &said), 0) << said;
  const std::string html = contents(page);
  for (const char* expected :
       {"Since the night before", "RED: 2 of 2 cases failed", "<td>pass</td><td>fail</td>", "n1", "n2", "Relu/f32[1]"})
    EXPECT_NE(html.find(expected), std::string::npos) << expected;
  expectRefused("build --output " + page, "got neither");
  ASSERT_EQ(run("build --history " + history_ + " " + file(RunText{.cases = 5}.text()) + " --output " + page), 0);
  EXPECT_NE(contents(page).find("5 planned = 5 recorded = 5 passed."), std::string::npos)
      << "results come from the files";
  EXPECT_NE(contents(page).find("<td>pass</td><td>fail</td>"), std::string::npos) << "changes from the history";
  ASSERT_EQ(run("history --history " + history_ + " --metric status --case 'Relu/f32[1]'", &said), 0);
  EXPECT_NE(said.find("Relu/f32[1] on cpu: status"), std::string::npos) << said;
  EXPECT_NE(said.find("1 series, 2 nights"), std::string::npos) << said;
  EXPECT_EQ(run("history --history " + history_ + " --op Softmax", &said), 3);
}

TEST_F(HistoryTest, AStatusOfAnExpectationFileIsNewsUnlessItIsAFlake) {
  const std::string page = folder_ + "/page.html";
  struct {
    const char *status, *change;
    size_t badNights;
  } const nights[] = {{"fail", "", 1},
                      {"expected", "<td>fail</td><td>expected</td>", 1},
                      {"unexpected", "<td>expected</td><td>unexpected</td>", 2},
                      {"flake", "<td>unexpected</td><td>flake</td>", 2},
                      {"pass", "No case changed its status.", 2}};
  for (size_t i = 0; i < std::size(nights); ++i) {
    ASSERT_EQ(add(RunText{.id = fmt::format("r{}", i),
                          .night = fmt::format("n{}", i),
                          .started = fmt::format("2026-01-0{}T00:00:00Z", i + 1),
                          .kind = "check",
                          .status = nights[i].status,
                          .margin = 0.25 + static_cast<double>(i)}
                      .text()),
              0);
    ASSERT_EQ(run("build --history " + history_ + " --output " + page), 0);
    const std::string html = contents(page), bad = "<td class=\"n bad\">2</td>";
    EXPECT_NE(html.find(nights[i].change), std::string::npos) << nights[i].change;
    size_t badNights = 0;
    for (size_t at = html.find(bad); at != html.npos; at = html.find(bad, at + 1)) ++badNights;
    EXPECT_EQ(badNights, nights[i].badNights) << nights[i].status;
    std::string said;
    EXPECT_LE(run("detect --history " + history_, &said), 1) << said;
  }
  const auto margins = series({.caseId = "Relu/f32[0]", .metrics = {"margin"}});
  ASSERT_EQ(margins.size(), 1u);
  EXPECT_EQ(margins[0].points.size(), 4u) << "not of the flake";
  EXPECT_EQ(series({.caseId = "Relu/f32[0]", .metrics = {"status"}})[0].points.size(), 5u);
}

TEST_F(HistoryTest, MergedFilesHoldEveryRunOnce) {
  const std::string whole = RunText{.id = "a", .cases = 3}.text();
  const std::string part = whole.substr(0, whole.rfind('\n', whole.size() - 2) + 1);
  const std::string plan = R"({"record":"plan","runs":1})"
                           "\n";
  const std::string out = folder_ + "/all.jsonl";
  std::string said;
  ASSERT_EQ(run("merge -o " + out + " " +
                    file(plan + RunText{.id = "b", .night = "n", .started = "2025-01-01T00:00:00Z"}.text()) + " " +
                    file(plan + part) + " " + file(plan + whole),
                &said),
            0)
      << said;
  EXPECT_NE(said.find("2 runs, 1 left out"), std::string::npos) << said;
  Results results;
  ASSERT_TRUE(readResults(out, results).isOk());
  ASSERT_EQ(results.runs.size(), 2u);
  EXPECT_TRUE(results.complete()) << results.missing();
  EXPECT_EQ(results.plannedRuns, 2u);
  EXPECT_EQ(results.runs[0].night, "n");
  EXPECT_EQ(results.runs[1].night, "") << "the older file comes first";
  EXPECT_EQ(results.cases.size(), 5u);
  const std::string before = contents(out);
  expectRefused("merge -o " + out + " " + file(whole) + " " + file(RunText{.id = "a", .margin = 1, .cases = 3}.text()),
                "comes twice with different content");
  EXPECT_EQ(contents(out), before);
}

/// Process runs with these times.
std::string runs(const std::string& name, const std::vector<double>& times, const RunText& like = {}) {
  std::string text;
  for (size_t i = 0; i < times.size(); ++i) {
    RunText one = like;
    one.id = name + std::to_string(i);
    one.executeNs = times[i];
    text += one.text();
  }
  return text;
}

TEST_F(HistoryTest, CompareFindsWhatIsWorse) {
  const std::vector<double> fast = {1000, 1010, 990, 1005}, slow = {1100, 1111, 1089, 1105};
  const std::string before = file(runs("a", fast));
  std::string said;
  const auto compare = [&](const std::string& after) { return run("compare " + before + " " + file(after), &said); };
  EXPECT_EQ(compare(runs("b", fast)), 0) << said;
  EXPECT_NE(said.find("2 times tested"), std::string::npos) << said;
  EXPECT_EQ(compare(runs("b", slow)), 1) << said;
  EXPECT_NE(said.find("worse  Relu/f32[0] on cpu: executeWall 1 µs -> 1.1 µs (+10.0 %, p = "), std::string::npos)
      << said;
  EXPECT_EQ(compare(runs("b", {900, 905, 895, 901})), 0) << said;
  EXPECT_NE(said.find("better Relu/f32[0] on cpu: executeWall"), std::string::npos) << said;
  EXPECT_EQ(compare(runs("b", {1300})), 0) << "one process run proves nothing";
  EXPECT_NE(said.find("0 times tested, 2 of one process run alone left out"), std::string::npos) << said;
  EXPECT_EQ(compare(runs("b", {1000, 1300, 800, 1150})), 0) << "noise: " << said;
  EXPECT_EQ(compare(runs("b", fast, {.status = "fail"})), 1) << said;
  EXPECT_NE(said.find("worse  Relu/f32[0] on cpu: pass -> fail: why"), std::string::npos) << said;
  EXPECT_EQ(compare(runs("b", fast, {.status = "unsupported"})), 1) << "it passed before: " << said;
  EXPECT_EQ(compare(runs("b", fast, {.status = "expected"})), 1) << said;
  EXPECT_EQ(compare(runs("b", fast, {.status = "flake"})), 0) << said;
  EXPECT_EQ(compare(runs("b", fast, {.margin = 0.9})), 1) << said;
  EXPECT_NE(said.find("margin 0.25 -> 0.9 of the bound"), std::string::npos) << said;
  EXPECT_EQ(compare(runs("b", fast, {.digest = "00000000000000ab"})), 0) << said;
  EXPECT_NE(said.find("bits changed in 2 cases"), std::string::npos) << said;
  EXPECT_EQ(compare(runs("b", fast, {.kind = "check"})), 3) << said;
  EXPECT_EQ(run("compare --threshold 20 " + before + " " + file(runs("b", slow)), &said), 0) << said;
  EXPECT_EQ(run("compare " + before + " " + folder_ + "/none", &said), 2) << said;
}

TEST(Compare, WelchHasTheTailOfStudent) {
  // By numerical integration of the density: t = 2, equal variances, 2 + 2 values, so 2 degrees: p = 0.183503.
  const double d = std::sqrt(2.0);  // variance of each mean is 1 with values +-1
  const std::vector<double> a = {std::exp(-1), std::exp(1)};
  const std::vector<double> b = {std::exp(-1 + 2 * d), std::exp(1 + 2 * d)};
  EXPECT_NEAR(welchOnLogarithms(a, b), 0.1835034190722740, 1e-9);
  EXPECT_NEAR(welchOnLogarithms(a, a), 1, 1e-12);
  EXPECT_EQ(welchOnLogarithms(std::vector<double>{1.0}, a), 1);
  EXPECT_EQ(welchOnLogarithms(std::vector<double>{1, 1}, std::vector<double>{2, 2}), 0);
}

}  // namespace
}  // namespace opkit::reports
