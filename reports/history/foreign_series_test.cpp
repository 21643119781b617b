// Numbers of other programs, read.
#include "reports/history/foreign_series.h"

#include <gtest/gtest.h>

#include <fmt/format.h>

#include <filesystem>
#include <fstream>

#include "reports/history/foreign_table.h"

namespace opkit::reports {
namespace {

class ForeignSeriesTest : public testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directories(folder_); }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string file(const std::string& text) {
    const std::string path = fmt::format("{}/{}.txt", folder_, ++files_);
    std::ofstream(path, std::ios::binary) << text;
    return path;
  }
  static std::string recorded(const std::string& name) {
    return std::string(OPKIT_SOURCE_DIR "/reports/testing/") + name;
  }
  ForeignSeries read(const std::vector<std::string>& paths, bool higherIsBetter = false) {
    auto foreign = readForeignSeries(paths, higherIsBetter);
    EXPECT_TRUE(foreign) << foreign.error().message();
    return foreign ? *std::move(foreign) : ForeignSeries{};
  }
  /// The message names the first file and holds `expected`.
  void expectRefused(const std::vector<std::string>& texts, const std::string& expected) {
    std::vector<std::string> paths;
    for (const std::string& text : texts) paths.push_back(file(text));
    const auto foreign = readForeignSeries(paths, false);
    ASSERT_FALSE(foreign) << texts.back();
    const std::string message = foreign.error().message();
    EXPECT_NE(message.find(expected), std::string::npos) << message;
    EXPECT_NE(message.find(paths.back()), std::string::npos) << message;
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
  }

  int files_ = 0;
  const std::string folder_ =
      testing::TempDir() + "foreign_" + testing::UnitTest::GetInstance()->current_test_info()->name();
};

std::string benchmarkText(const std::string& date, const std::string& entries) {
  return fmt::format(R"({{"context": {{{}"num_cpus": 2}}, "benchmarks": [{}]}})",
                     date.empty() ? "" : fmt::format(R"("date": "{}", )", date), entries);
}
std::string benchmarkEntry(const std::string& name, const std::string& time, const std::string& unit) {
  return fmt::format(R"({{"name": "{}", "run_type": "iteration", "real_time": {}, "time_unit": "{}"}})", name, time,
                     unit);
}

TEST_F(ForeignSeriesTest, AFileOfGoogleBenchmarkHasItsRepetitionsInNanoseconds) {
  const ForeignSeries foreign = read({recorded("google_benchmark.json")});
  ASSERT_EQ(foreign.series.size(), 3u);
  EXPECT_EQ(foreign.series[0].key.caseId, "Sum in us/4096");
  EXPECT_EQ(foreign.series[1].key.caseId, "Sum/4096");
  EXPECT_EQ(foreign.series[1].key.op, "Sum");
  EXPECT_EQ(foreign.series[2].key.caseId, "Sum/64");
  for (const Series& series : foreign.series) {
    EXPECT_EQ(series.key.metric, "time");
    EXPECT_EQ(series.values.size(), 2u) << series.key.caseId;
  }
  // The same loop in two units: on the machine that recorded it within a factor of three.
  EXPECT_GT(foreign.series[0].values[0], foreign.series[1].values[0] / 3);
  EXPECT_LT(foreign.series[0].values[0], foreign.series[1].values[0] * 3);
  ASSERT_EQ(foreign.nights.size(), 1u);
  EXPECT_EQ(foreign.nights[0].commit, "0123456789abcdef");
  EXPECT_EQ(foreign.nights[0].at, *secondsOf("2026-11-30T17:12:47"));
  EXPECT_TRUE(foreign.environments[0].host.starts_with("2 CPUs")) << foreign.environments[0].host;
  ASSERT_EQ(foreign.notes.size(), 2u);
  EXPECT_EQ(foreign.notes[0], "14 aggregates left out");
  EXPECT_EQ(foreign.notes[1], "2 benchmarks left out that have an error or were skipped");
}

TEST_F(ForeignSeriesTest, AFileOfHyperfineHasEveryProcess) {
  const ForeignSeries foreign = read({recorded("hyperfine.json")});
  ASSERT_EQ(foreign.series.size(), 3u);
  EXPECT_EQ(foreign.series[0].key.caseId, "a name, \"quoted\"");
  ASSERT_EQ(foreign.series[1].key.caseId, "false");
  ASSERT_EQ(foreign.series[1].values.size(), 4u);
  EXPECT_DOUBLE_EQ(foreign.series[1].values[0], 2.5200500000000002e6);
  EXPECT_DOUBLE_EQ(foreign.series[1].values[3], 14.935857e6);
  EXPECT_EQ(foreign.notes, std::vector<std::string>{"4 times of commands that failed, which count too"});
}

TEST_F(ForeignSeriesTest, UnitsAndOrderOfGoogleBenchmark) {
  const std::string late = file(benchmarkText("2026-01-02T01:00:00+02:00", benchmarkEntry("a", "2", "us"))),
                    early = file(benchmarkText("2026-01-01T23:30:00-01:00", benchmarkEntry("a", "3e-6", "s"))),
                    last = file(benchmarkText("2026-01-03T00:00:00+00:00", benchmarkEntry("a", "0.25", "ms"))),
                    first = file(benchmarkText("2026/01/01-12:00:00", benchmarkEntry("a", "7", "ns")));
  const ForeignSeries foreign = read({last, early, late, first});
  ASSERT_EQ(foreign.series.size(), 1u);
  // 23:00 on the first in UTC comes before 00:30 on the second.
  EXPECT_EQ(foreign.series[0].values, (std::vector<double>{7, 2000, 3000, 250'000}));
  EXPECT_EQ(foreign.nights[1].name, late);
  const std::string undated = file(benchmarkText("", benchmarkEntry("a", "1", "ns")));
  const ForeignSeries given = read({last, undated, first});
  EXPECT_EQ(given.series[0].values, (std::vector<double>{250'000, 1, 7}));
  ASSERT_EQ(given.notes.size(), 1u);
  EXPECT_NE(given.notes[0].find("has no date: the files count in the order given"), std::string::npos);
}

TEST_F(ForeignSeriesTest, RowsOfCsvAreRunsOfNights) {
  const ForeignSeries foreign =
      read({file("\xef\xbb\xbfvalue, unit,run,name,commit,date,other\r\n"
                 "2,us,monday,\"f<int, \"\"x\"\">\",c1,2026-01-05,z\r\n"
                 "\r\n"
                 "3,us,monday,\"f<int, \"\"x\"\">\",,,\r\n"
                 "4000,ns,tuesday,\"f<int, \"\"x\"\">\",c2,2026-01-06,\r\n"
                 "9,MB,tuesday,size,,,")});
  ASSERT_EQ(foreign.series.size(), 2u);
  EXPECT_EQ(foreign.series[0].key.caseId, "f<int, \"x\">");
  EXPECT_EQ(foreign.series[0].values, (std::vector<double>{2000, 3000, 4000}));
  ASSERT_EQ(foreign.series[0].points.size(), 2u);
  EXPECT_EQ(foreign.series[0].points[0].count, 2u);
  EXPECT_EQ(foreign.series[1].key.metric, "value");
  EXPECT_EQ(foreign.series[1].points[0].night, 1u);
  EXPECT_EQ(foreign.nights[0].commit, "c1");
  EXPECT_EQ(foreign.nights[1].at - foreign.nights[0].at, 86400);
  EXPECT_TRUE(foreign.notes.empty());
}

TEST_F(ForeignSeriesTest, RowsOfANightNeedNotStandTogether) {
  const ForeignSeries foreign =
      read({file("name,run,value\na,n1,1\na,n2,2\nb,n1,9\na,n1,3\n"), file("run,value,name\nn2,4,a\n")});
  ASSERT_EQ(foreign.series.size(), 2u);
  EXPECT_EQ(foreign.series[0].values, (std::vector<double>{1, 3, 2, 4}));
  ASSERT_EQ(foreign.series[0].points.size(), 2u);
  EXPECT_EQ(foreign.series[0].points[1].first, 2u);
  EXPECT_EQ(foreign.series[0].points[1].count, 2u);
}

TEST_F(ForeignSeriesTest, RatesZerosAndDatesOutOfOrder) {
  const ForeignSeries foreign =
      read({file("name,run,value,date\na,n2,5,2026-01-02\na,n1,0,2026-01-01\na,n1,6,2026-01-01\nb,n1,0,\n")}, true);
  ASSERT_EQ(foreign.series.size(), 1u) << "b has no value";
  EXPECT_EQ(foreign.series[0].key.metric, "rate");
  EXPECT_EQ(foreign.series[0].values, (std::vector<double>{5, 6}));
  ASSERT_EQ(foreign.notes.size(), 2u);
  EXPECT_NE(foreign.notes[0].find("not in the order of their dates"), std::string::npos);
  EXPECT_EQ(foreign.notes[1], "2 values of 0 left out");
}

TEST_F(ForeignSeriesTest, BadCsvNamesFileAndLine) {
  const std::string head = "name,run,value,unit,commit,date\n";
  expectRefused({""}, "is empty");
  expectRefused({" \n\n"}, "is empty");
  expectRefused({"a,b,c\n"}, "line 1: expected a head line with the columns name, run and value; found no 'name'");
  expectRefused({"name,run\n"}, "found no 'value'");
  expectRefused({"\x7f"
                 "ELF\x01\x02"},
                "found no 'name'");
  expectRefused({head + "a,n,1,,,\na,n,1,,\n"}, "line 3: expected 6 cells as in the head line, found 5");
  expectRefused({head + "a,n,fast,,,\n"}, "line 2: expected a number as value, found 'fast'");
  expectRefused({head + "a,n,,,,\n"}, "expected a number as value, found ''");
  expectRefused({head + "a,n,1 ms,,,\n"}, "found '1 ms'");
  expectRefused({head + "a,n,1e999,,,\n"}, "found '1e999'");
  expectRefused({head + "a,n,nan,,,\n"}, "line 2: expected a value of at least 0 of 'a', found nan");
  expectRefused({head + "a,n,-inf,,,\n"}, "found -inf");
  expectRefused({head + "a,n,-1,,,\n"}, "found -1");
  expectRefused({head + ",n,1,,,\n"}, "expected a name, found none");
  expectRefused({head + "a,,1,,,\n"}, "expected a run, found none");
  expectRefused({head + "a,n,1,ms,,\na,n,1,MB,,\n"}, "line 3: expected the unit 'ns' that 'a' had before, found 'MB'");
  expectRefused({head + "a,n,1,,c1,\na,n,1,,c2,\n"}, "run 'n' has the commit 'c2', which was 'c1' before");
  expectRefused({head + "a,n,1,,,yesterday\n"}, "found 'yesterday'");
  expectRefused({head + "a,n,1,,,2026-02-30\n"}, "found '2026-02-30'");
  expectRefused({head + "\"a,n,1,,,\n"}, "line 2: a quotation mark is not closed");
  expectRefused({head + "\"a\"b,n,1,,,\n"}, "expected a comma after the quotation mark, found 'b,n,1,,,'");
}

TEST_F(ForeignSeriesTest, BadJsonNamesFileAndEntry) {
  std::ifstream stream(recorded("google_benchmark.json"));
  const std::string whole{std::istreambuf_iterator<char>(stream), {}};
  expectRefused({whole.substr(0, whole.size() / 2)}, "the JSON ends too early");
  expectRefused({"{\"results\": [\n}"}, "line 2: this is no JSON");
  expectRefused({"[1, 2]"}, "expected JSON with 'benchmarks' (Google Benchmark) or 'results' (hyperfine)");
  expectRefused({"{\"benchmarks\": 3}"}, "expected JSON with 'benchmarks'");
  expectRefused({R"({"schema_version": 2, "results": []})"},
                "expected the JSON of hyperfine 1, found schema version 2");
  expectRefused({benchmarkText("", benchmarkEntry("a", "NaN", "ns"))},
                "benchmarks[0]: expected a number as real_time of 'a', found null");
  expectRefused({benchmarkText("", benchmarkEntry("a", "-Infinity", "ns"))}, "found null");
  expectRefused({benchmarkText("", benchmarkEntry("a", "\"3\"", "ns"))}, "found \"3\"");
  expectRefused({benchmarkText("", benchmarkEntry("a", "-3", "ns"))},
                "expected a value of at least 0 of 'a', found -3");
  expectRefused({benchmarkText("", benchmarkEntry("a", "3", "ns") + "," + benchmarkEntry("a", "3", "days"))},
                "benchmarks[1]: expected time_unit ns, us, ms or s of 'a', found 'days'");
  expectRefused({benchmarkText("", benchmarkEntry("", "3", "ns"))}, "expected a name, found none");
  expectRefused({benchmarkText("", "7")}, "expected run_type 'iteration' or 'aggregate', found ''");
  expectRefused({R"({"results": [{"command": "x"}]})"}, "results[0]: expected the times of 'x', found none");
  expectRefused({R"({"results": [{"command": "x", "times": [1, null]}]})"},
                "expected numbers as times of 'x', found null");
  expectRefused({R"({"results": [{"command": "x", "times": [-1]}]})"}, "found -1");
  expectRefused({R"({"results": [{"command": "x", "times": [1e999]}]})"}, "a number exceeds a double");
}

TEST_F(ForeignSeriesTest, FilesOfTwoFormsAndTwiceTheSameAreRefused) {
  const std::string csv = "name,run,value\na,n,1\n", json = R"({"results": [{"command": "x", "times": [1]}]})";
  expectRefused({csv, json}, "expected the form of the first file, CSV; found hyperfine");
  expectRefused({json, benchmarkText("", "")},
                "expected the form of the first file, hyperfine; found Google Benchmark");
  expectRefused({csv, csv}, "has the same content as");
  const auto absent = readForeignSeries({"/no/such/file"}, false);
  ASSERT_FALSE(absent);
  EXPECT_NE(absent.error().message().find("/no/such/file"), std::string::npos);
}

TEST_F(ForeignSeriesTest, AMillionRowsAreReadOneByOne) {
  std::string text = "name,run,value\n";
  for (int night = 0; night < 50; ++night)
    for (int series = 0; series < 1000; ++series)
      for (int i = 0; i < 20; ++i) text += fmt::format("benchmark/{},{},{}\n", series, night, 1000 + i);
  const ForeignSeries foreign = read({file(text)});
  EXPECT_EQ(foreign.series.size(), 1000u);
  EXPECT_EQ(foreign.nights.size(), 50u);
  size_t values = 0;
  for (const Series& series : foreign.series) values += series.values.size();
  EXPECT_EQ(values, 1'000'000u);
}

TEST(SecondsOf, ReadsTheDatesOfBenchmarks) {
  EXPECT_EQ(secondsOf("1970-01-02"), 86400);
  EXPECT_EQ(secondsOf("1970-01-01T01:02:03+01:00"), 123);
  EXPECT_EQ(secondsOf("1970-01-01 00:00:05"), 5);
  EXPECT_EQ(secondsOf("1970/01/01-00:00:06"), 6);
  for (const char* wrong : {"", "today", "2026", "2026-13-01", "2026-01-01T", "2026-01-01Tnoon"})
    EXPECT_FALSE(secondsOf(wrong)) << wrong;
}

}  // namespace
}  // namespace opkit::reports
