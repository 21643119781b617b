// op-report detect --series, as a program.
#include <fstream>
#include <functional>

#include "reports/testing/results_text.h"

namespace opkit::reports {
namespace {

/// The time in ns of a run of a series on a night.
using Times = std::function<double(int series, int night, int run)>;

constexpr int kRuns = 7;
constexpr const char* kForms[] = {"Google Benchmark", "hyperfine", "CSV"};

/// Noise of 1.2 %; no two nights have the same.
double noisy(int series, int night, int run) {
  return 1 + 0.002 * ((series * 11 + night * 5 + run * 3 + night * night) % 7) + 1e-6 * night;
}
double unchanged(int series, int night, int run) { return 100'000 * noisy(series, night, run); }
/// The first two of the series slow down by 10 % in the last two of 20 nights.
double slower(int series, int night, int run) {
  return unchanged(series, night, run) * (series < 2 && night >= 18 ? 1.1 : 1);
}

class DetectSeriesTest : public OpReportTest {
 protected:
  static constexpr int kSeries = 5;

  std::string written(int night, const std::string& text) {
    const std::string path = fmt::format("{}/{:02}.json", folder_, night);
    std::ofstream(path) << text;
    return path + " ";
  }
  std::string googleBenchmark(int nights, const Times& times, const std::string& commits = "") {
    std::string paths;
    for (int night = 0; night < nights; ++night) {
      std::string entries;
      for (int series = 0; series < kSeries; ++series)
        for (int run = 0; run < kRuns; ++run)
          entries += fmt::format(
              R"({}{{"name":"Sort/{}","run_type":"iteration","repetition_index":{},"real_time":{},"time_unit":"us"}})",
              entries.empty() ? "" : ",", series, run, times(series, night, run) / 1000);
      const std::string commit =
          commits.empty() ? "" : fmt::format(R"(,"commit":"{}{}")", commits, night >= 18 ? 1 : 0);
      // The names of the files are in the opposite order.
      paths = written(nights - night,
                      fmt::format(R"({{"context":{{"date":"2026-01-{:02}T00:00:00+00:00"{}}},"benchmarks":[{}]}})",
                                  night + 1, commit, entries)) +
              paths;
    }
    return paths;
  }
  std::string hyperfine(int nights, const Times& times) {
    std::string paths;
    for (int night = 0; night < nights; ++night) {
      std::string entries;
      for (int series = 0; series < kSeries; ++series) {
        entries += fmt::format(R"({}{{"command":"sort {}","times":[)", series == 0 ? "" : ",", series);
        for (int run = 0; run < kRuns; ++run)
          entries += fmt::format("{}{}", run == 0 ? "" : ",", times(series, night, run) / 1e9);
        entries += "]}";
      }
      paths += written(night, fmt::format(R"({{"results":[{}]}})", entries));
    }
    return paths;
  }
  std::string csv(int nights, const Times& times, int series = kSeries) {
    std::string text = "name,run,value,unit\n";
    for (int night = 0; night < nights; ++night)
      for (int one = 0; one < series; ++one)
        for (int run = 0; run < kRuns; ++run)
          text += fmt::format("sort/{},night {:02},{},ns\n", one, night, times(one, night, run));
    return file(text);
  }
  /// Twenty nights in a form, in place of those of the form before.
  std::string written(const std::string& form, const Times& times) {
    if (form == "CSV") return csv(20, times);
    return form == "hyperfine" ? hyperfine(20, times) : googleBenchmark(20, times);
  }
  int detect(const std::string& arguments, std::string* said) { return run("detect --series " + arguments, said); }
};

TEST_F(DetectSeriesTest, ASlowDownIsFoundInAllForms) {
  for (const char* form : kForms) {
    SCOPED_TRACE(form);
    std::string said;
    const std::string paths = written(form, slower);
    EXPECT_EQ(detect(paths, &said), 1) << said;
    EXPECT_NE(said.find("1 new finding (1 worse); 5 series: 2 worse, 0 better, 3 same"), std::string::npos) << said;
    EXPECT_NE(said.find("new worse: 2 series"), std::string::npos) << said;
    EXPECT_NE(said.find(", time 1.1 times"), std::string::npos) << said;
    EXPECT_NE(said.find("suspect  unknown: the nights name no commit"), std::string::npos) << said;
    EXPECT_EQ(said.find("repeat"), std::string::npos) << said;
    EXPECT_EQ(said.find(" on "), std::string::npos) << said;
  }
}

TEST_F(DetectSeriesTest, NoChangeIsFoundWhereThereIsNone) {
  for (const char* form : kForms) {
    SCOPED_TRACE(form);
    std::string said;
    const std::string paths = written(form, unchanged);
    EXPECT_EQ(detect(paths, &said), 0) << said;
    EXPECT_NE(said.find("0 new findings (0 worse); 5 series: 0 worse, 0 better, 5 same"), std::string::npos) << said;
    EXPECT_NE(said.find("A/A: the process runs of 20 nights in two halves: 0 of 100 pairs differ"), std::string::npos)
        << said;
    EXPECT_NE(said.find("shuffled: 0 of 200 histories of the same 20 nights"), std::string::npos) << said;
  }
}

TEST_F(DetectSeriesTest, DatesOrderTheNightsAndCommitsAreNamed) {
  std::string said;
  EXPECT_EQ(detect(googleBenchmark(20, slower, "commit"), &said), 1) << said;
  EXPECT_NE(said.find("03.json (commit0) and "), std::string::npos) << said;
  EXPECT_NE(said.find("02.json (commit1)"), std::string::npos) << said;
  EXPECT_NE(said.find("suspect  the code"), std::string::npos) << said;
}

TEST_F(DetectSeriesTest, HigherIsBetterForRates) {
  const std::string rates = csv(20, slower);
  std::string said;
  EXPECT_EQ(detect(rates + " --higher-is-better", &said), 0) << said;
  EXPECT_NE(said.find("2 series of sort, rate 1.1 times"), std::string::npos) << said;
  EXPECT_NE(said.find("0 worse, 2 better, 3 same"), std::string::npos) << said;
  EXPECT_EQ(detect(rates + " --lower-is-better", &said), 1) << said;
}

TEST_F(DetectSeriesTest, BadNightsRaiseTheMeasuredRateOfFalseAlarms) {
  const auto withBadNights = [](int series, int night, int run) {
    return unchanged(series, night, run) * (night == 9 || night == 10 ? 1.3 : 1);
  };
  std::string said;
  EXPECT_EQ(detect(csv(20, withBadNights), &said), 0) << said;
  EXPECT_EQ(said.find("shuffled: 0 of 200"), std::string::npos) << said;
  EXPECT_NE(said.find(" of 200 histories of the same 20 nights"), std::string::npos) << said;
}

TEST_F(DetectSeriesTest, OneNightIsTooFewAndNoNumberIsNothingToJudge) {
  std::string said;
  EXPECT_EQ(detect(csv(1, unchanged), &said), 0) << said;
  EXPECT_NE(said.find("5 with insufficient data"), std::string::npos) << said;
  EXPECT_NE(said.find("shuffled: no series has 8 nights of 7 runs"), std::string::npos) << said;
  EXPECT_EQ(detect(file("name,run,value\n"), &said), 3) << said;
  EXPECT_NE(said.find("nothing to judge"), std::string::npos) << said;
  EXPECT_EQ(detect(file(R"({"context":{},"benchmarks":[]})"), &said), 3) << said;
}

TEST_F(DetectSeriesTest, WrongUsageAndBadFilesAreOneLine) {
  const std::string good = csv(2, unchanged);
  for (const std::string& arguments :
       {std::string("--series /no/such/file"), "--series " + good + " --history " + history_, std::string(),
        "--series " + good + " --higher-is-better --lower-is-better", "--history " + history_ + " --higher-is-better",
        "--series " + file("name,run,value\na,n,x\n"), "--series " + good + " " + file("\x01\x02\n"),
        "--series " + folder_}) {
    std::string said;
    EXPECT_EQ(run("detect " + arguments, &said), 2) << arguments << ": " << said;
    EXPECT_EQ(std::count(said.begin(), said.end(), '\n'), 1) << arguments << ": " << said;
  }
}

TEST_F(DetectSeriesTest, TheFormerNameWorksAndSaysSo) {
  std::string said;
  EXPECT_EQ(run("judge --series " + csv(20, slower), &said), 1) << said;
  EXPECT_NE(said.find("op-report: note: `judge` is now called `detect`\n"), std::string::npos) << said;
  EXPECT_EQ(run("--help", &said), 0);
  EXPECT_NE(said.find("\n  detect "), std::string::npos) << said;
  EXPECT_EQ(said.find("judge"), std::string::npos) << said;
}

}  // namespace
}  // namespace opkit::reports
