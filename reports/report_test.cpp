#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <regex>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "engine/base/where.h"
#include "engine/testing/nowhere.h"
#include "reports/report_data.h"
#include "reports/sparkline.h"

namespace opkit::reports {
namespace {

class ReportTest : public testing::Test {
 protected:
  /// A file of this test: tests run at the same time.
  static std::string own(const std::string& name) {
    return testing::TempDir() + testing::UnitTest::GetInstance()->current_test_info()->name() + "_" + name;
  }
  std::string file(const std::string& text) {
    const std::string path = own("results_" + std::to_string(++files_) + ".jsonl");
    std::ofstream(path) << text;
    return path;
  }
  /// Runs op-report; returns its exit code, leaves its output in `said`.
  int run(const std::string& arguments, std::string* said = nullptr) {
    const std::string log = own("op_report.log");
    const int status = std::system((partOfBuild(OPKIT_OP_REPORT) + " " + arguments + " >" + log + " 2>&1").c_str());
    std::ifstream stream(log);
    if (said) *said = {std::istreambuf_iterator<char>(stream), {}};
    return WEXITSTATUS(status);
  }
  static std::string contents(const std::string& path) {
    std::ifstream stream(path);
    return {std::istreambuf_iterator<char>(stream), {}};
  }

  int files_ = 0;
  const std::string page_ = own("index.html"), data_ = own("data.json");
};

constexpr const char* kGood =
    R"({"record":"run","schema":1,"command":"check","commit":"abc","dirty":true}
{"record":"device","backend":"vulkan","name":"llvmpipe","software":true}
{"record":"case","kind":"check","id":"Relu/f32[3]","op":"Relu","backend":"vulkan","dtype":"f32","status":"pass","accuracy":{"margin":0.25}}
{"record":"case","kind":"check","id":"Relu/f32[4]","op":"Relu","backend":"vulkan","dtype":"f32","status":"fail","failedCheck":"poison","reason":"<2 of 4 unwritten>","accuracy":{"margin":"nan"}}
{"record":"case","kind":"bench","id":"Relu/f32[4]","op":"Relu","backend":"cpu","status":"pass","flops":4e6,"times":{"executeWall":{"median":2000000}}}
{"record":"case","kind":"conformance","id":"node/test_x","backend":"cpu","status":"unsupported","reason":"ONNX operator 'X' has no rule"}
{"record":"case","kind":"model","id":"zoo:resnet50","backend":"vulkan","status":"pass","layers":[{"tensor":"conv1","op":"Conv","nmse":1e-12,"status":"pass"}]}
)";

TEST_F(ReportTest, PageShowsFailuresMarginsTimesReasonsAndLayers) {
  ASSERT_EQ(run("build " + file(kGood) + " --output " + page_), 0);
  const std::string html = contents(page_);
  for (const char* expected :
       {"RED: 1 of 5 cases failed for 1 reason, first Relu/f32[4] on vulkan.", "&lt;2 of 4 unwritten&gt;", "poison",
        "nan", "ONNX operator &apos;X&apos; has no rule", "zoo:resnet50", "conv1", "software device",
        "with local changes", "5 recorded = 3 passed + 1 failed + 1 unsupported."})
    EXPECT_NE(html.find(expected), std::string::npos) << expected;
  EXPECT_EQ(html.find("<2 of 4"), std::string::npos) << "reasons must be escaped";
  for (const char* outside : {" src=", "href=\"http", "@import", "url("})
    EXPECT_EQ(html.find(outside), std::string::npos) << "the page must be self-contained: " << outside;
}

TEST_F(ReportTest, FailuresOfOneReasonAreOneRow) {
  std::string text = R"({"record":"run","schema":3,"command":"check"})"
                     "\n";
  const auto add = [&](int i, const std::string& op, const std::string& status, const std::string& reason) {
    text += fmt::format(
        R"({{"record":"case","kind":"check","id":"{0}/f32[{1}]","op":"{0}","backend":"cpu","status":"{2}","failedCheck":"canary","reason":"{3}","repro":"op-harness check --case {0}/f32[{1}]"}})"
        "\n",
        op, i, status, reason);
  };
  for (int i = 0; i < 31; ++i)
    add(i, i % 2 ? "Relu" : "Gemm", "fail",
        fmt::format("output 0 [{}]: expected -{}.5e-{}, got {}", i % 3 ? "2,3" : "7", i, i, i % 2 ? "nan" : "-inf"));
  add(40, "Relu", "fail", "output of 4 bytes is nanny");
  add(41, "Relu", "crash", "output 0 [1]: expected 1, got 2");
  std::string said;
  ASSERT_EQ(run("build " + file(text) + " --output " + page_, &said), 0) << said;
  EXPECT_NE(said.find("33 of 33 cases failed for 3 reasons, first Gemm/f32[0] on cpu"), std::string::npos) << said;
  const std::string html = contents(page_);
  EXPECT_NE(html.find("<a href=\"#failure-1\">31</a> Gemm, Relu: fail in canary, check on cpu"), std::string::npos);
  for (int i = 0; i < 31; ++i)
    EXPECT_NE(html.find(fmt::format("--case {}/f32[{}]", i % 2 ? "Relu" : "Gemm", i)), std::string::npos) << i;
}

/// Of one operator: endings, worst error, kernels, refusals, and figures of times that are computed again here.
TEST_F(ReportTest, AnOperatorHasItsView) {
  const std::string begin = R"({"record":"run","schema":3,"command":"check"})"
                            "\n";
  const auto check = [](int i, const std::string& status, double margin, const std::string& more) {
    return fmt::format(
        R"({{"record":"case","kind":"check","id":"Relu/f32[{0}]","op":"Relu","backend":"cpu","provider":"opkit","kernel":"rows","status":"{1}","accuracy":{{"elements":1,"margin":{2},"maxUlp":{0}.5}}{3}}})"
        "\n",
        i, status, margin, more);
  };
  const std::string timed =
      R"({"record":"case","kind":"bench","id":"Relu/f32[9]","op":"Relu","backend":"cpu","provider":"opkit","kernel":"rows","status":"pass","flops":6e6,"bytes":9e6,"roofline":0.375,"times":{"executeWall":{"min":1e6,"median":3e6,"mad":0,"samples":[9e6,3e6,1e6]},"create":{"min":5,"median":7,"mad":0,"samples":[7]}}})"
      "\n";
  ASSERT_EQ(run("build " +
                file(begin + check(1, "pass", 0.25, "") + check(2, "pass", 0.5, R"(,"notRun":{"pages":"why not"})") +
                     check(3, "skip", 0, "") + check(4, "unsupported", 0, R"(,"reason":"no f64")") + timed) +
                " --output " + page_ + " --data " + data_),
            0);
  const nlohmann::json relu = nlohmann::json::parse(contents(data_))["operators"]["Relu"];
  EXPECT_EQ(relu["backends"], nlohmann::json::parse(R"([{"backend":"cpu","cases":"2 passed + 1 unsupported + 1 skipped",
      "bad":false,"kernels":["opkit/rows"],"margin":0.5,"ulp":4.5,"worst":"Relu/f32[2]"}])"));
  EXPECT_EQ(relu["notRun"], nlohmann::json::parse(R"([[1,"pages","why not"],[1,"refused on cpu","no f64"],
      [1,"skipped on cpu",""]])"));
  // 6e6 operations and 9e6 bytes in 3e6 ns.
  EXPECT_EQ(relu["times"], nlohmann::json::parse(R"([{"case":"Relu/f32[9]","backend":"cpu","provider":"opkit",
      "kernel":"rows","create":7,"resizeCold":null,"resizeWarm":null,"executeWall":3000000,"executeDevice":null,
      "gflops":2,"gbs":3,"roof":0.375,"intensity":0.6667,"runs":[1000000],"samples":[2000000,3000000,6000000]}])"));
  EXPECT_EQ(relu["cases"][1], nlohmann::json::parse(R"(["Relu/f32[2]","cpu","pass",0.5,2.5,"opkit/rows"])"));
  EXPECT_EQ(relu["page"], "ops/unary/unary.md");
  const std::string html = contents(page_);
  EXPECT_NE(html.find("<a href=\"#Relu\">Relu</a>"), std::string::npos);
  EXPECT_NE(html.find(": 1 operator on no device."), std::string::npos) << html.substr(0, 9000);
}

TEST_F(ReportTest, MarkupInNamesStaysText) {
  const std::string evil = R"(\"><script>alert(1)</script>)";
  const std::string line = fmt::format(
      R"({{"record":"case","kind":"check","id":"{0}","op":"{0}","backend":"{0}","status":"fail","failedCheck":"{0}","reason":"{0}","repro":"{0}","map":"{0}#","diagnosis":{{"kind":"x","text":"{0}"}}}})"
      "\n",
      evil);
  ASSERT_EQ(run("build " +
                file(R"({"record":"run","schema":3,"command":"check"})"
                     "\n" +
                     line) +
                " --output " + page_),
            0);
  EXPECT_EQ(contents(page_).find("<script>alert"), std::string::npos);
}

TEST(Sparkline, ShowsATenthMore) {
  EXPECT_EQ(sparkline(std::vector<double>{1e6}), "");
  EXPECT_EQ(sparkline(std::vector<double>{1e6, NAN}), "");
  const std::string line = sparkline(std::vector<double>{4e6, NAN, 2e6});
  EXPECT_NE(line.find("2 nights: first 4 ms, least 2 ms, last 2 ms"), std::string::npos) << line;
  EXPECT_NE(line.find("points=\"3.0,3.0 137.0,25.0\""), std::string::npos) << line;
  // From 75 to 100: 90 is 15 of 25.
  EXPECT_NE(sparkline(std::vector<double>{100, 90}).find("points=\"3.0,3.0 137.0,11.8\""), std::string::npos);
  EXPECT_NE(sparkline(std::vector<double>(1000, 5)).find("90 nights"), std::string::npos);
  EXPECT_NE(sparkline(std::vector<double>{0, 0}).find("points=\"3.0,25.0 137.0,25.0\""), std::string::npos);
}

TEST(ErrorPicture, HasACellPerWrongPlace) {
  EXPECT_EQ(errorPicture(""), "");
  EXPECT_EQ(errorPicture("...\n..."), "");
  const std::string picture = errorPicture("..#\n+..");
  EXPECT_NE(picture.find(R"(<rect class="all" x="12" y="0")"), std::string::npos) << picture;
  EXPECT_NE(picture.find(R"(<rect class="some" x="0" y="6")"), std::string::npos) << picture;
  EXPECT_NE(picture.find(R"(width="18" height="12")"), std::string::npos) << picture;
}

TEST_F(ReportTest, WhatRanInPartAndTheAgeOfTheFullNight) {
  std::string text = kGood;
  text += R"({"record":"summary","outcome":"complete","part":"day 20790: 3 of 40 written cases"}
{"record":"run","schema":3,"command":"bench"})"
          "\n";
  const auto today = std::chrono::floor<std::chrono::days>(std::chrono::system_clock::now());
  const auto dayBefore = [&](int days) {
    const std::chrono::year_month_day day{today - std::chrono::days(days)};
    return fmt::format("{:04}-{:02}-{:02}", int(day.year()), unsigned(day.month()), unsigned(day.day()));
  };
  const auto parts = [&](const std::string& rows) { return file("part   minutes  last run    verdict\n" + rows); };
  const std::string good = parts(fmt::format(
      "check-1   12  {}  green\nsync  10  {}  red: exit code 1\nroof-1  10  never \n", dayBefore(40), dayBefore(3)));
  std::string said;
  ASSERT_EQ(run("build " + file(text) + " --output " + page_ + " --parts " + good, &said), 0) << said;
  const std::string html = contents(page_);
  for (const std::string& expected :
       {std::string("day 20790: 3 of 40 written cases"), std::string("<td>all</td>"),
        std::string("1 of 3 parts of the full night ran in the last 30 days, 1 never; red: sync."),
        std::string("<td>roof-1</td><td>never</td>"),
        fmt::format("<td>check-1</td><td>{}</td><td class=\"n\">40</td>", dayBefore(40))})
    EXPECT_NE(html.find(expected), std::string::npos) << expected;
  EXPECT_LT(html.find("<td>roof-1"), html.find("<td>check-1")) << "the oldest first";
  for (const std::string& bad : {parts("check-1 12 yesterday green\n"), parts("check-1 12 2026-13-01 green\n"),
                                 parts("check-1 12 2026-01-01\n"), parts("check-1\n")}) {
    EXPECT_EQ(run("build " + file(text) + " --output " + page_ + " --parts " + bad, &said), 2) << said;
    EXPECT_NE(said.find(bad + ":2: expected a part, its minutes, date and verdict, found 'check-1"), std::string::npos)
        << said;
  }
  EXPECT_EQ(run("build " + file(text) + " --output " + page_ + " --parts " + parts(""), &said), 2) << said;
  EXPECT_NE(said.find("found none"), std::string::npos) << said;
}

TEST_F(ReportTest, NetworksStandBesideOnnxRuntime) {
  const std::string results = file(R"({"record":"run","schema":3,"command":"check"}
{"record":"case","id":"Relu/f32[3]/seed=1","kind":"check","op":"Relu","backend":"cpu","status":"pass"}
)");
  const auto record = [&](const std::string& rows) {
    return file("# 2026-11-28, commit abc\nnetwork\tthreads\n" + rows);
  };
  const std::string good = record(
      "small\t1\t2.0\t1.0\t0.500\t0.01\tConv a 0.5\tConv b 0.9\nlarge\t1\t1.0\t2.0\t2.000\t0.01\t\t\n"
      "small\t2\t2.0\t1.0\t0.500\t0.01\t\t\nother\t\t\t\t\t\tthe outputs differ\t\n");
  std::string said;
  ASSERT_EQ(run("build " + results + " --output " + page_ + " --peers " + good, &said), 0) << said;
  const std::string html = contents(page_);
  for (const char* expected :
       {"time at 1 thread (1 of 2 networks above 1), 0.50 of ONNX Runtime",
        "time at 2 threads (0 of 1 networks above 1)", "2026-11-28, commit abc.", "<td class=\"n bad\">2.00</td>",
        "<td>Conv a 0.5</td><td>Conv b 0.9</td>", "<td>the outputs differ</td>"})
    EXPECT_NE(html.find(expected), std::string::npos) << expected;
  for (const std::string& bad : {record("a\t1\t2\t1\tnan\t0\t\t\n"), record("a\t1\t2\t1\t0\t0\t\t\n"), record("a\t1\n"),
                                 record("other\t\t\t\t\t\tno time\t\n"), file(""), std::string("nowhere.tsv")}) {
    EXPECT_EQ(run("build " + results + " --output " + page_ + " --peers " + bad, &said), 2) << said;
    EXPECT_NE(said.find("expected"), std::string::npos) << said;
  }
}

TEST_F(ReportTest, OperatorsOfPluginsWithoutResultsAreNamed) {
  const std::string plugin = " --plugin " + (partOfBuild(OPKIT_SAMPLES) + "/libscaled_tanh.so");
  std::string said;
  EXPECT_EQ(run("build " + file(kGood) + " --output " + page_ + plugin, &said), 0);
  EXPECT_NE(said.find("operator com.example::ScaledTanh of plugin"), std::string::npos) << said;
  EXPECT_NE(said.find("has no case in these results"), std::string::npos) << said;
  const std::string checked = std::string(kGood) +
                              R"({"record":"case","kind":"check","id":"com.example::ScaledTanh/f32[3]",)" +
                              R"("op":"com.example::ScaledTanh","backend":"cpu","dtype":"f32","status":"pass"})";
  EXPECT_EQ(run("build " + file(checked) + " --output " + page_ + plugin, &said), 0);
  EXPECT_EQ(said.find("has no case"), std::string::npos) << said;
  EXPECT_EQ(run("build " + file(kGood) + " --output " + page_ + " --plugin " + nowhere("a.so"), &said), 2);
  EXPECT_NE(said.find(nowhere("a.so")), std::string::npos) << said;
}

TEST_F(ReportTest, CasesThatDifferBetweenDriversAreNamed) {
  const auto results = [](const char* secondStatus) {
    std::string text;
    for (const auto& [run, driver, status] : {std::tuple{"1", "Mesa 22", "pass"}, {"2", "Mesa 25", secondStatus}})
      text += fmt::format(
          R"({{"record":"run","schema":1,"run":"{0}","command":"check --run {0}"}}
{{"record":"device","run":"{0}","backend":"vulkan","name":"llvmpipe","driver":"{1}"}}
{{"record":"case","run":"{0}","kind":"check","id":"Pow/f32[3]","op":"Pow","backend":"vulkan","status":"{2}","opinion":"the drivers differ"}}
)",
          run, driver, status);
    return text;
  };
  ASSERT_EQ(run("build " + file(results("fail")) + " --output " + page_), 0);
  const std::string html = contents(page_);
  for (const char* expected : {"differ between runs", "llvmpipe, Mesa 25: check --run 2", "the drivers differ"})
    EXPECT_NE(html.find(expected), std::string::npos) << expected;
  ASSERT_EQ(run("build " + file(results("pass")) + " --output " + page_), 0);
  EXPECT_EQ(contents(page_).find("differ between runs"), std::string::npos);
}

TEST_F(ReportTest, ExpectedFailuresAreNoFailures) {
  const auto line = [](const char* id, const char* status, const char* found, const char* more) {
    return fmt::format(
        R"({{"record":"case","kind":"check","id":"{}","op":"Pow","backend":"vulkan","status":"{}","reason":"accuracy: 3 of 9","expectation":{{"line":"vulkan-llvmpipe.fails:12","reason":"mesa/mesa#123","status":"{}"}}{}}})"
        "\n",
        id, status, found, more);
  };
  const std::string known = line("Pow/f32[3]", "expected", "crash", "") + line("Pow/f32[4]", "flake", "fail", "");
  ASSERT_EQ(run("build " + file(known) + " --output " + page_), 0);
  std::string html = contents(page_);
  for (const char* part :
       {"GREEN: 2 cases recorded, 1 failed as expected, 1 flaky, no other failed.", "Expected failures",
        "crash: accuracy: 3 of 9", "mesa/mesa#123", "vulkan-llvmpipe.fails:12", "0 + 1 failed as expected + 1 flaky"})
    EXPECT_NE(html.find(part), std::string::npos) << part;
  EXPECT_EQ(html.find("id=\"failures\""), std::string::npos);
  const std::string news = line("Pow/f32[5]", "unexpected", "pass", "") +
                           R"({"record":"case","kind":"check","id":"Pow/f32[6]","op":"Pow","backend":"vulkan",)"
                           R"("status":"fail","reason":"accuracy","rerun":"pass"})"
                           "\n";
  ASSERT_EQ(run("build " + file(known + news) + " --output " + page_), 0);
  html = contents(page_);
  for (const char* part : {"2 of 4 cases failed for 2 reasons, first", ": unexpected, check on vulkan",
                           "<td>accuracy</td><td>pass</td>", "; 1 failed as expected, 1 flaky."})
    EXPECT_NE(html.find(part), std::string::npos) << part;
}

TEST_F(ReportTest, AnEmptyRunIsNotPublished) {
  std::filesystem::remove(page_);
  std::string said;
  const std::string onlySkips =
      R"({"record":"case","kind":"check","id":"a","backend":"vulkan","status":"skip","reason":"no device"})";
  EXPECT_EQ(run("build " + file(onlySkips) + " --output " + page_, &said), 3);
  EXPECT_NE(said.find("none of them executed"), std::string::npos) << said;
  EXPECT_FALSE(std::filesystem::exists(page_));
}

/// The program in the build folder of a tree with other sources.
TEST_F(ReportTest, ANoteIsOneLine) {
  std::string said;
  EXPECT_EQ(run("add --history " + own("h.sqlite") + " " +
                    file(R"({"record":"run","schema":3,"run":"two\nlines\u009b","started":"","host":"h"})"),
                &said),
            0);
  EXPECT_NE(said.find("op-report: note: run two\\x0alines\\u009b has no time"), std::string::npos) << said;
}

TEST_F(ReportTest, AnOldBuildIsSaid) {
  const std::filesystem::path tree = own("another_tree");
  std::filesystem::remove_all(tree);
  for (const char* folder : {"ops/relu", "build/bin"}) std::filesystem::create_directories(tree / folder);
  for (const char* name : {"CMakeLists.txt", "ops/CMakeLists.txt", "ops/relu/another.cpp"}) std::ofstream(tree / name);
  const std::filesystem::path program = tree / "build/bin/op-report";
  std::filesystem::copy_file(partOfBuild(OPKIT_OP_REPORT), program);
  const std::string docs = std::string(OPKIT_SOURCE_DIR) + "/docs/", log = own("old.log");
  for (const std::string& arguments : {"ops --check " + docs + "ops.md", "onnx --check " + docs + "onnx.md"}) {
    std::system((program.string() + " " + arguments + " >" + log + " 2>&1").c_str());
    EXPECT_NE(contents(log).find("op-report: this program was built of other sources"), std::string::npos)
        << arguments << ": " << contents(log);
  }
  std::filesystem::remove_all(tree);
}

TEST_F(ReportTest, BadInputIsOneLineAndExitCodeTwo) {
  std::string said;
  EXPECT_EQ(run("build " + nowhere() + " --output " + page_, &said), 2);
  EXPECT_EQ(said, "op-report: " + nowhere() + ": cannot be read: Not a directory; expected a file of JSON lines\n");
  EXPECT_EQ(run("build " + file("{\"record\":\"case\"") + " --output " + page_, &said), 2);
  EXPECT_NE(said.find(":1: expected a line of JSON"), std::string::npos) << said;
  EXPECT_EQ(run("build " + file(std::string("SQLite\0\x1b[31m\r\n{}\n", 16)) + " --output " + page_, &said), 2);
  EXPECT_TRUE(said.ends_with(R"(found 'SQLite\x00\x1b[31m\x0d')"
                             "\n"))
      << said;
  EXPECT_EQ(run("build " + file(R"({"record":"run","schema":9})") + " --output " + page_, &said), 2);
  EXPECT_NE(said.find("expected schema 1 to 3, found 9"), std::string::npos) << said;
  EXPECT_EQ(run("build " + file(R"({"record":"case","kind":"check"})") + " --output " + page_, &said), 2);
  EXPECT_NE(said.find("lacks the field 'id'"), std::string::npos) << said;
  EXPECT_EQ(run("", &said), 2);
}

std::string runLine(const std::string& id, int planned) {
  return fmt::format(R"({{"record":"run","schema":1,"run":"{}","command":"check {}","planned":{{"cpu":{}}}}})"
                     "\n",
                     id, id, planned);
}
std::string caseLine(const std::string& run, const std::string& id) {
  return fmt::format(
      R"({{"record":"case","kind":"check","run":"{}","id":"{}","op":"Relu","backend":"cpu","status":"pass"}})"
      "\n",
      run, id);
}
std::string endLine(const std::string& run, const std::string& outcome) {
  return fmt::format(R"({{"record":"summary","run":"{}","outcome":"{}"}})"
                     "\n",
                     run, outcome);
}

TEST_F(ReportTest, ARunThatWasCutShortIsNotGreen) {
  std::string said;
  const std::string part = runLine("a", 4) + caseLine("a", "one") + caseLine("a", "two");
  for (const std::string& text : {part, part + endLine("a", "interrupted"), part + endLine("a", "complete")}) {
    ASSERT_EQ(run("build " + file(text) + " --output " + page_, &said), 0) << said;
    const std::string missing = "INCOMPLETE: 2 of 4 planned cases (50.0 %); 1 of 1 runs did not reach its end";
    EXPECT_NE(said.find("note: " + missing), std::string::npos) << said;
    const std::string html = contents(page_);
    EXPECT_NE(html.find(missing), std::string::npos);
    EXPECT_EQ(html.find(", none failed."), std::string::npos);
    EXPECT_EQ(html.find("GREEN: 2"), html.find("NOT GREEN: 2") + 4) << "what is missing is not green";
  }
  const std::string whole = part + caseLine("a", "three") + caseLine("a", "four") + endLine("a", "complete");
  ASSERT_EQ(run("build " + file(whole) + " --output " + page_, &said), 0);
  EXPECT_EQ(said.find("INCOMPLETE"), std::string::npos) << said;
  EXPECT_EQ(contents(page_).find("INCOMPLETE"), std::string::npos);
  EXPECT_NE(contents(page_).find("GREEN: 4 cases recorded, none failed."), std::string::npos);
}

TEST_F(ReportTest, RunsOfOneFileAreToldApart) {
  // Two programs that appended at the same time, and a third run that never began.
  const std::string text = R"({"record":"plan","runs":3})"
                           "\n" +
                           runLine("a", 2) + runLine("b", 1) + caseLine("b", "x") + caseLine("a", "x") +
                           endLine("b", "complete") + caseLine("a", "y") + endLine("a", "complete");
  std::string said;
  ASSERT_EQ(run("build " + file(text) + " --output " + page_, &said), 0) << said;
  EXPECT_NE(said.find("INCOMPLETE: 3 of 3 planned cases (100.0 %); 1 of 3 planned runs never began"), std::string::npos)
      << said;
  // Lines that a run announces later are planned too.
  const std::string more = runLine("a", 1) +
                           R"({"record":"plan","run":"a","planned":{"vulkan":3}})"
                           "\n" +
                           caseLine("a", "x") + endLine("a", "complete");
  ASSERT_EQ(run("build " + file(more) + " --output " + page_, &said), 0) << said;
  EXPECT_NE(said.find("INCOMPLETE: 1 of 4"), std::string::npos) << said;
}

TEST_F(ReportTest, AMissingShardIsNamed) {
  const auto shard = [&](const std::string& id, const std::string& part) {
    return file(R"({"record":"plan","runs":1,"night":"n","shard":")" + part + "\"}\n" + runLine(id, 1) +
                caseLine(id, id) + endLine(id, "complete"));
  };
  const std::string first = shard("a", "1/3"), third = shard("c", "3/3"), merged = file("");
  std::string said;
  ASSERT_EQ(run("merge -o " + merged + " " + first + " " + third, &said), 0) << said;
  for (const std::string& files : {first + " " + third, merged}) {
    ASSERT_EQ(run("build " + files + " --output " + page_, &said), 0) << said;
    EXPECT_NE(said.find("INCOMPLETE: 2 of 2 planned cases (100.0 %); 1 of 3 shards is missing, first 2/3"),
              std::string::npos)
        << said;
    EXPECT_EQ(said.find("\nGREEN"), std::string::npos) << said;
  }
  ASSERT_EQ(run("build " + merged + " " + shard("b", "2/3") + " --output " + page_, &said), 0) << said;
  EXPECT_NE(said.find("\nGREEN: 3 cases"), std::string::npos) << said;
  // A shard that was killed before its first run.
  const std::string second = file(R"({"record":"plan","runs":2,"night":"n","shard":"2/3"})"
                                  "\n");
  ASSERT_EQ(run("merge -o " + merged + " " + second + " " + first + " " + third, &said), 0) << said;
  ASSERT_EQ(run("build " + merged + " --output " + page_, &said), 0) << said;
  EXPECT_NE(said.find("INCOMPLETE: 2 of 2 planned cases (100.0 %); 2 of 4 planned runs never began"), std::string::npos)
      << said;
  for (const char* bad : {"0/3", "4/3", "1", "1/", "/3", "1/3x", "-1/3", "1/99999999999999999999"}) {
    EXPECT_EQ(run("build " + shard("d", bad) + " --output " + page_, &said), 2) << bad;
    EXPECT_NE(said.find(fmt::format("field 'shard': expected I/N with 1 <= I <= N, found \"{}\"", bad)),
              std::string::npos)
        << said;
  }
}

TEST_F(ReportTest, ALineThatWasCutShortIsLeftOut) {
  std::string said;
  const std::string cut = "{\"record\":\"case\",\"ki";
  const std::string part = runLine("a", 2) + caseLine("a", "one") + cut;
  ASSERT_EQ(run("build " + file(part) + " --output " + page_, &said), 0) << said;
  EXPECT_NE(said.find(":3: the line was cut short; it is left out"), std::string::npos) << said;
  EXPECT_NE(contents(page_).find("2 planned - 1 missing = 1 recorded = 1 passed."), std::string::npos);
  // Another run was appended to it.
  ASSERT_EQ(run("build " + file(part + "\n" + runLine("b", 1) + caseLine("b", "x") + endLine("b", "complete")) +
                    " --output " + page_,
                &said),
            0)
      << said;
  EXPECT_NE(said.find(":3: the line was cut short"), std::string::npos) << said;
  EXPECT_NE(contents(page_).find("3 planned - 1 missing = 2 recorded = 2 passed."), std::string::npos);
  // Anywhere else the file is damaged, not cut.
  EXPECT_EQ(run("build " + file(part + "\n" + caseLine("a", "two")) + " --output " + page_, &said), 2);
  EXPECT_NE(said.find(":3: expected a line of JSON"), std::string::npos) << said;
}

TEST_F(ReportTest, APageThatCannotBeWrittenIsTwo) {
  std::string said;
  EXPECT_EQ(run("build " + file(kGood) + " --output /dev/full", &said), 2);
  EXPECT_NE(said.find("cannot write '/dev/full': No space left on device"), std::string::npos) << said;
}

TEST(ReportData, TimesHaveThreeDigitsAndAUnit) {
  EXPECT_EQ(formatNs(12), "12 ns");
  EXPECT_EQ(formatNs(1234), "1.23 µs");
  EXPECT_EQ(formatNs(1.5e6), "1.5 ms");
  EXPECT_EQ(formatNs(2e9), "2 s");
}

}  // namespace
}  // namespace opkit::reports
