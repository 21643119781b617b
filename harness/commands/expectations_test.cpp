// Expectation files as a user applies them to `check`: known failures, unexpected passes, flakes, skips, wrong lines,
// and files that a run writes. The kernels of a plugin fail as the environment says.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "engine/base/where.h"
#include "harness/conformance/conformance.h"
#include "harness/testing/program.h"

namespace opkit::harness {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr const char* kCases = R"({"cases": [{"op": "Relu", "inputs": [["f32[33]"], ["f32[5,7]"], ["f32[3,4]"]]}]})";
constexpr const char* kFailing = "Relu/f32[5,7]/normal/seed=7";

class ProgramExpectations : public testing::Test {
 protected:
  void SetUp() override {
    fs::remove_all(folder_);
    fs::create_directories(files_);
    write(folder_ + "/cases.json", kCases);
  }
  void TearDown() override { fs::remove_all(folder_); }

  static void write(const std::string& path, const std::string& text) { std::ofstream(path) << text; }
  void expect(const std::string& name, const std::string& text) const { write(files_ + "/" + name, text); }
  std::string plugin() const { return " --plugin " + partOfBuild(OPKIT_FAULTY) + "/libfaulty_kernels.so "; }

  /// Checks the three cases with the kernels' fault; those of two dimensions have it.
  Ran check(const std::string& fault, const std::string& more = "", const std::string& backend = "cpu") const {
    fs::remove(results_);
    return runShell("OPKIT_KERNEL_FAULT=" + fault + " " + opHarness() + " check --jobs 1 --backend " + backend +
                    plugin() + "--cases " + folder_ + "/cases.json --json " + results_ + " " + more);
  }
  Ran checkExpected(const std::string& fault, const std::string& more = "") const {
    return check(fault, "--expectations " + files_ + " " + more);
  }

  /// The lines of a kind.
  std::vector<Json> lines(const std::string& record) const {
    std::vector<Json> found;
    std::istringstream stream(textOf(results_));
    for (std::string text; std::getline(stream, text);)
      if (Json line = Json::parse(text); line.value("record", "") == record) found.push_back(std::move(line));
    return found;
  }
  Json caseLine(const std::string& id) const {
    for (Json& line : lines("case"))
      if (line.value("id", "") == id) return line;
    return {};
  }
  size_t counted(const std::string& status) const { return lines("summary").at(0).value(status, size_t{99}); }

  /// The text of the only file with this ending that a run has written to `folder`.
  static std::string written(const std::string& folder, const std::string& ending) {
    std::string text;
    size_t files = 0;
    for (const auto& entry : fs::directory_iterator(folder))
      if (entry.path().extension() == ending) text = textOf(entry.path()), ++files;
    EXPECT_EQ(files, 1u) << ending;
    return text;
  }

  const std::string folder_ =
      testing::TempDir() + "program_expectations_" + testing::UnitTest::GetInstance()->current_test_info()->name();
  const std::string files_ = folder_ + "/expected", results_ = folder_ + "/results.jsonl";
};

TEST_F(ProgramExpectations, AKnownFailureIsNoFailureOfTheRun) {
  expect("cpu.fails", "# Both shapes of two dimensions.\nRelu/f32[*,*]/* | the plugin adds a half\n");
  EXPECT_EQ(check("wrong").code, 1);
  const Ran ran = checkExpected("wrong", "--junit " + folder_ + "/junit.xml");
  EXPECT_EQ(ran.code, 0) << ran.text;
  expectPart(ran, "cpu.fails: 1 of 1 lines are for this driver");
  expectPart(ran, "ok: 1 pass, 2 failed as expected");
  EXPECT_EQ(ran.text.find("!accuracy"), std::string::npos) << "its block is no news: " << ran.text;
  const Json line = caseLine(kFailing);
  EXPECT_EQ(line["status"], "expected");
  EXPECT_EQ(line["failedCheck"], "accuracy");
  EXPECT_EQ(line["expectation"],
            (Json{{"line", "cpu.fails:2"}, {"reason", "the plugin adds a half"}, {"status", "fail"}}));
  EXPECT_FALSE(line.contains("rerun"));
  EXPECT_EQ(counted("expected"), 2u);
  EXPECT_EQ(counted("fail"), 0u);
  EXPECT_EQ(counted("executed"), 3u);
  EXPECT_NE(textOf(folder_ + "/junit.xml").find("<skipped message=\"expected: "), std::string::npos);
}

TEST_F(ProgramExpectations, AnUnexpectedPassFailsAndNamesTheLine) {
  expect("cpu.fails", std::string("\n") + kFailing + " | fixed since\n");
  const Ran ran = checkExpected("none");
  EXPECT_EQ(ran.code, 1) << ran.text;
  expectPart(ran, files_ + "/cpu.fails:2: expected to fail, but passes: delete the line (fixed since)\n");
  expectPart(ran, "FAIL: 2 pass, 1 against expectations");
  EXPECT_EQ(caseLine(kFailing)["status"], "unexpected");
  EXPECT_EQ(caseLine(kFailing)["expectation"]["status"], "pass");
  expect("cpu.fails", "Relu* | too wide\n");
  const Ran wide = checkExpected("wrong");
  EXPECT_EQ(wide.code, 1) << wide.text;
  expectPart(wide,
             "expected to fail, but 1 cases pass and 2 fail: narrow the pattern; Relu/f32[33]/normal/seed=7 passes");
}

TEST_F(ProgramExpectations, AFlakeMayFailAndMayPass) {
  expect("cpu.flakes", "Relu/f32[*,*]* | one time in ten\n");
  const Ran failed = checkExpected("wrong");
  EXPECT_EQ(failed.code, 0) << failed.text;
  expectPart(failed, "ok: 1 pass, 2 flake");
  EXPECT_EQ(caseLine(kFailing)["status"], "flake");
  const Ran passed = checkExpected("none");
  EXPECT_EQ(passed.code, 0) << passed.text;
  expectPart(passed, "ok: 3 pass\n");
}

TEST_F(ProgramExpectations, ASkippedCaseDoesNotRun) {
  expect("cpu.skips", "Relu/f32[5,7]* | ends the process\nRelu/f32[3,4]* | ends the process too\n");
  const Ran ran = checkExpected("crash");
  EXPECT_EQ(ran.code, 0) << ran.text;
  expectPart(ran, "ok: 1 pass, 2 skip");
  EXPECT_EQ(caseLine(kFailing)["status"], "skip");
  EXPECT_EQ(caseLine(kFailing)["reason"], "cpu.skips:1: ends the process");
  EXPECT_EQ(caseLine(kFailing)["expectation"]["line"], "cpu.skips:1");
  EXPECT_FALSE(caseLine(kFailing).contains("dispatches"));
  expect("cpu.skips", "Relu/f32[5,7]* | this one alone\n");
  EXPECT_EQ(checkExpected("none").code, 0) << "the other case of its group runs";
  EXPECT_EQ(counted("pass"), 2u);
  expect("cpu.skips", "*|no bar\n");
  EXPECT_EQ(checkExpected("none").code, 2);
  expect("cpu.skips", "* | everything\n");
  const Ran nothing = checkExpected("none");
  EXPECT_EQ(nothing.code, 3) << nothing.text;
  expectPart(nothing, "expectation files leave out these cases");
}

TEST_F(ProgramExpectations, AFailureRunsAgainAndItsFirstResultStays) {
  const Ran lasting = check("wrong");
  EXPECT_EQ(lasting.code, 1) << lasting.text;
  expectPart(lasting, "  rerun    failed again\n");
  EXPECT_EQ(caseLine(kFailing)["rerun"], "fail");
  const Ran once = check("once:" + folder_ + "/computed", "--save " + folder_ + "/capsules");
  EXPECT_EQ(once.code, 1) << once.text;
  expectPart(once, "  rerun    passed when run again: it comes and goes");
  EXPECT_EQ(once.text.find("capsule "), std::string::npos) << "nothing that passes now can be shrunk: " << once.text;
  EXPECT_EQ(caseLine(kFailing)["status"], "fail");
  EXPECT_EQ(caseLine(kFailing)["rerun"], "pass");
  EXPECT_EQ(counted("fail"), 2u);
  EXPECT_EQ(lines("case").size(), 3u);
  EXPECT_EQ(check("once:" + folder_ + "/computed").code, 0);
}

TEST_F(ProgramExpectations, NotEveryFailureOfABrokenBuildRunsAgain) {
  std::string errors;
  for (int i = 1; i <= 52; ++i)
    errors += fmt::format(R"({}{{"op": "Relu", "inputs": ["f32[{}]"], "error": "impossible"}})", i > 1 ? ", " : "", i);
  write(folder_ + "/cases.json", R"({"cases": [], "errors": [)" + errors + "]}");
  const Ran some = check("none");
  EXPECT_EQ(some.code, 1) << some.text;
  expectPart(some, "2 more groups with failures were not run again; the first 50 were\n");
  const auto again = [this] {
    const auto all = lines("case");
    return std::count_if(all.begin(), all.end(), [](const Json& line) { return line.contains("rerun"); });
  };
  EXPECT_EQ(again(), 50);
  const Ran all = check("none", "--emit-expectations " + files_);
  expectPart(all, ".fails: lines added: 52\n");
  EXPECT_EQ(again(), 52);
  EXPECT_EQ(checkExpected("none").code, 0);
}

TEST_F(ProgramExpectations, ACrashIsExpectedAlone) {
  const Ran unknown = check("crash");
  EXPECT_EQ(unknown.code, 1) << unknown.text;
  expectPart(unknown, "  rerun    failed again (crash)\n");
  EXPECT_EQ(caseLine(kFailing)["rerun"], "crash");
  expect("cpu.fails", "Relu/f32[5,7]* | ends the process\nRelu/f32[3,4]* | so does this\n");
  const Ran known = checkExpected("crash");
  EXPECT_EQ(known.code, 0) << known.text;
  expectPart(known, "ok: 1 pass, 2 failed as expected");
  EXPECT_EQ(caseLine(kFailing)["expectation"]["status"], "crash");
}

TEST_F(ProgramExpectations, AWrongLineIsOneLineBeforeAnyCase) {
  const std::pair<const char*, const char*> kWrong[] = {
      {"Relu*", "cpu.fails:1: expected PATTERN | REASON, found no reason"},
      {"# a\nRelu* | driver 25..22 | why", "cpu.fails:2: no version lies in '25..22'"},
      {"Relu* | driver new | why", "cpu.fails:1: expected versions of drivers"},
      {"Relu/f32[9 | why", "cpu.fails:1: the pattern has no * and is no id of a case"},
      {"Relu* | driver 1.0 | why", "cpu.fails:1: the driver 'opkit with Highway' states no version"},
      {"Relu* | a\nRelu* | b", "cpu.fails:2: repeats line 1"}};
  for (const auto& [text, message] : kWrong) {
    expect("cpu.fails", text);
    expectOneLine(checkExpected("none"), message);
    expectOneLine(check("none", "--emit-expectations " + files_), message);
    EXPECT_FALSE(fs::exists(results_)) << text;
  }
  fs::remove(files_ + "/cpu.fails");
  expect("cpu.fail", "");
  expectOneLine(checkExpected("none"), "cpu.fail: expected a name that ends in .fails");
  expectOneLine(check("none", "--expectations " + folder_ + "/none"), "--expectations: there is no folder");
  expectOneLine(check("none", "--emit-expectations " + folder_ + "/cases.json/x"), "--emit-expectations: cannot write");
}

TEST_F(ProgramExpectations, WhatARunWritesMakesTheNextOneGreen) {
  const std::string emit = "--emit-expectations " + files_;
  const Ran first = check("wrong", emit);
  EXPECT_EQ(first.code, 1) << first.text;
  expectPart(first, ".fails: lines added: 2");
  const std::string text = written(files_, ".fails");
  EXPECT_NE(text.find("\nRelu/f32[5,7]/normal/seed=7 | accuracy: "), std::string::npos) << text;
  EXPECT_LT(text.find("Relu/f32[3,4]"), text.find("Relu/f32[5,7]")) << "in order";
  EXPECT_EQ(checkExpected("wrong").code, 0);
  EXPECT_EQ(check("wrong", emit).code, 1) << "writing is not expecting";
  EXPECT_EQ(written(files_, ".fails"), text);
  EXPECT_EQ(checkExpected("wrong", emit).code, 0);
  EXPECT_EQ(written(files_, ".fails"), text);
}

TEST_F(ProgramExpectations, WhatARunWritesKeepsReasonsAndTellsFlakes) {
  expect("cpu.fails", "Relu/f32[3,4]* | my own words\n");
  const std::string emit = "--emit-expectations " + files_;
  ASSERT_EQ(check("once:" + folder_ + "/computed", emit).code, 1);
  EXPECT_EQ(written(files_, ".fails"), "Relu/f32[3,4]* | my own words\n");
  EXPECT_NE(written(files_, ".flakes").find("\nRelu/f32[5,7]/normal/seed=7 | accuracy: "), std::string::npos);
  EXPECT_EQ(checkExpected("wrong").code, 0);
}

TEST_F(ProgramExpectations, APassingRunWritesNothing) {
  const std::string none = folder_ + "/none";
  EXPECT_EQ(check("none", "--emit-expectations " + none).code, 0);
  EXPECT_FALSE(fs::exists(none));
}

TEST_F(ProgramExpectations, AnInterruptedRunWritesNothing) {
  const std::string emitted = folder_ + "/emitted";
  std::string cases = R"({"cases": [{"op": "Relu", "inputs": [["f32[5,7]"]]})";
  for (int i = 1; i <= 500; ++i)
    cases += fmt::format(R"(, {{"op": "LeakyRelu", "params": {{"alpha": 0.{:03}}}, "inputs": [["f32[64,64]"]]}})", i);
  write(folder_ + "/cases.json", cases + "]}");
  setenv("OPKIT_KERNEL_FAULT", "wrong", 1);
  const Ran ran = runUntil("check --backend cpu --jobs 1" + plugin() + "--cases " + folder_ +
                               "/cases.json --emit-expectations " + emitted + " --json " + results_,
                           results_, "\"status\":\"fail\"", SIGINT);
  unsetenv("OPKIT_KERNEL_FAULT");
  EXPECT_EQ(ran.code, 130) << ran.text;
  expectPart(ran, "interrupted: ");
  EXPECT_FALSE(fs::exists(emitted)) << ran.text;
}

TEST_F(ProgramExpectations, EveryShardTakesTheFilesOfAll) {
  expect("cpu.fails", "Relu/f32[5,7]* | known\nRelu/f32[3,4]* | known\nAbs* | not in these cases\n");
  size_t expected = 0, all = 0;
  for (const char* shard : {"1/2", "2/2"}) {
    const Ran ran = checkExpected("wrong", std::string("--shard ") + shard);
    EXPECT_EQ(ran.code, 0) << ran.text;
    expected += counted("expected"), all += counted("lines");
  }
  EXPECT_EQ(expected, 2u);
  EXPECT_EQ(all, 3u);
}

TEST_F(ProgramExpectations, ALineThatMatchesNoCaseOfAWholeRunFails) {
  // Everything is left out, so that a run of all cases is short.
  expect("cpu.skips", "* | all\n");
  expect("cpu.fails", "Relu/f32[7777]* | of a case that was renamed\nAbs* | known\n");
  const std::string check = "check --backend cpu --jobs 2 --expectations " + files_;
  EXPECT_EQ(run(check + " --op Relu").code, 3) << "a part of the cases says nothing about a line";
  EXPECT_EQ(run(check + " --written").code, 3);
  EXPECT_EQ(run(check).code, 3) << "so does a day's";
  const Ran whole = run(check + " --budget none --json " + results_);  // half a minute, to draw the cases
  EXPECT_EQ(whole.code, 1) << whole.text;
  expectPart(whole, files_ + "/cpu.fails:1: matches no case: delete the line (of a case that was renamed)\n");
  EXPECT_EQ(whole.text.find("cpu.fails:2"), std::string::npos) << whole.text;
  EXPECT_EQ(caseLine("expectation:cpu.fails:1")["status"], "unexpected");
}

TEST_F(ProgramExpectations, ConformanceTakesLinesOfItsKind) {
  const auto data = packagedTestData();
  ASSERT_TRUE(data) << data.error().message();
  const fs::path model = fs::path(folder_) / "node/test_relu";
  fs::create_directories(model.parent_path());
  fs::copy(fs::path(*data) / "node/test_relu", model, fs::copy_options::recursive | fs::copy_options::copy_symlinks);
  const std::string outputs = model / "test_data_set_0/output_0.pb", right = textOf(outputs);
  fs::remove(outputs);                                             // it may be a link
  write(outputs, right.substr(0, right.size() - 2) + "\x80\x7f");  // the last element is infinite
  const auto conformance = [&](const std::string& more) {
    fs::remove(results_);
    return run("conformance " + folder_ + " --backend cpu --json " + results_ + " " + more);
  };
  const Ran failed = conformance("--emit-expectations " + files_);
  EXPECT_EQ(failed.code, 1) << failed.text;
  expectPart(failed, "  rerun    failed again\n");
  EXPECT_EQ(caseLine("node/test_relu")["rerun"], "fail");
  EXPECT_NE(written(files_, ".fails").find("\nconformance node/test_relu | test_data_set_0"), std::string::npos);
  const std::string expected = "--expectations " + files_;
  EXPECT_EQ(conformance(expected).code, 0);
  EXPECT_EQ(caseLine("node/test_relu")["status"], "expected");
  write(outputs, right);
  const Ran passed = conformance(expected);
  EXPECT_EQ(passed.code, 1) << passed.text;
  expectPart(passed, ".fails:3: expected to fail, but passes: delete the line");
  expect("cpu.skips", "conformance node/* | not today\n");
  EXPECT_EQ(conformance(expected).code, 3);
  EXPECT_EQ(caseLine("node/test_relu")["reason"], "cpu.skips:1: not today");
  expect("cpu.skips", "node/* | of another kind\n");
  EXPECT_EQ(conformance(expected).code, 1);
}

#ifdef OPKIT_HAS_VULKAN
TEST_F(ProgramExpectations, ALineForOtherDriversDoesNotApply) {
  expect("vulkan.fails", "Relu* | driver ..1.0 | of a driver before Vulkan\n");
  const std::string folder = "--expectations " + files_;
  const Ran old = check("wrong", folder, "vulkan");
  EXPECT_EQ(old.code, 1) << old.text;
  expectPart(old, "vulkan.fails: 0 of 1 lines are for this driver");
  expect("vulkan.fails", "Relu* | driver 1.0.. | since then\n");
  EXPECT_EQ(check("wrong", folder, "vulkan").code, 0);
}

TEST_F(ProgramExpectations, ARunWritesTheVersionOfItsDriver) {
  const std::string folder = "--emit-expectations " + files_;
  ASSERT_EQ(check("wrong", folder, "cpu,vulkan").code, 1);
  size_t files = 0;
  for (const auto& entry : fs::directory_iterator(files_)) {
    const std::string name = entry.path().filename(), text = textOf(entry.path());
    const bool hasRange = text.find("Relu/f32[5,7]/normal/seed=7 | driver ") != std::string::npos;
    EXPECT_EQ(hasRange, name.starts_with("vulkan-")) << name << ": " << text;
    ++files;
  }
  EXPECT_EQ(files, 2u);
  EXPECT_EQ(check("wrong", "--expectations " + files_, "cpu,vulkan").code, 0);
}
#endif

}  // namespace
}  // namespace opkit::harness
