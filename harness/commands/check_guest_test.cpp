// `op-harness check --ort` and `bench --ort` as a user runs them: what is refused, and what is left of a run that ends
// early. The first tests need no ONNX Runtime; the others skip without one.
#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "engine/base/where.h"
#include "harness/guest/ort_test_support.h"
#include "harness/testing/program.h"

namespace opkit::harness {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr const char* kRelu = " --case 'Relu/f32[3,4]/normal/seed=7'";

std::string planted() { return partOfBuild(OPKIT_PLANTED_PROVIDER); }

fs::path emptyFolder(const std::string& name) {
  const fs::path folder = fs::path(testing::TempDir()) / name;
  fs::remove_all(folder);
  fs::create_directories(folder);
  return folder;
}

/// op-harness with its temporary files in `folder`.
Ran runIn(const std::string& folder, const std::string& arguments) {
  return runShell("TMPDIR=" + folder + " " + opHarness() + " " + arguments);
}

TEST(GuestCommand, WhatIsNoLibraryIsSaidInOneLine) {
  const std::string text = fileWith("check_guest.so", "text"), none = fileWith("check_guest_empty.so", "");
  for (const std::string command : {"check --ort ", "bench --ort "}) {
    expectOneLine(run(command + "/no/such.so" + kRelu), "cannot read '/no/such.so'");
    expectOneLine(run(command + testing::TempDir() + kRelu), "it is a folder, not a file");
    expectOneLine(run(command + "/dev/null" + kRelu), "it is a pipe or a device");
    expectOneLine(run(command + "''" + kRelu), "--ort: expected a value");
    expectOneLine(run(command + text + kRelu), "no shared library that can be loaded");
    expectOneLine(run(command + none + kRelu), "no shared library that can be loaded");
    expectOneLine(run(command + planted() + kRelu), "it exports no OrtGetApiBase");
  }
}

TEST(GuestCommand, OptionsThatDoNotGoTogetherAreSaidInOneLine) {
  for (const std::string command : {"check ", "bench "}) {
    for (const char* option : {"--ep cpu", "--ep-library x", "--ep-option a=b"})
      expectOneLine(run(command + option), "requires --ort");
    const std::string ort = command + "--ort " + planted() + kRelu;
    expectOneLine(run(ort + " --ep-option fault"), "--ep-option expects NAME=VALUE, got 'fault'");
    expectOneLine(run(ort + " --ep-option a=1 --ep-option a=2"), "'a' is set twice");
    expectOneLine(run(ort + " --ep cpu --ep webgpu"), "--ep: expected one value");
    expectOneLine(run(ort + " --ep-library " + planted()), "expected --ep with the name of its provider, got 'cpu'");
  }
  const std::string check = "check --ort " + planted() + kRelu;
  expectOneLine(run(check + " --backend cpu"), "excludes");
  expectOneLine(run(check + " --debug x"), "excludes");
  expectOneLine(run(check + " --opset 0"), "--opset: expected a whole number");
  expectOneLine(run("check --opset 13"), "requires --ort");
}

TEST(GuestCommand, RoomForTemporaryFilesIsLookedForFirst) {
  for (const std::string command : {"check", "bench"})
    expectOneLine(runIn("/no/such/folder", command + " --ort " + planted() + kRelu), "no folder for temporary files");
}

class GuestCommandOrt : public testing::Test {
 protected:
  void SetUp() override { OPKIT_SKIP_WITHOUT_ORT(); }

  static std::string cpu() { return "check --ort " + ortForTests(); }
  static std::string faulty(const std::string& fault) {
    return cpu() + " --ep OpKitPlanted --ep-library " + planted() + " --ep-option fault=" + fault + " --written ";
  }

  /// The records of cases without what differs from run to run.
  static std::vector<std::string> records(const std::string& options) {
    const std::string json = fileWith("check_guest.jsonl", "");
    const Ran ran = run(cpu() + " --op Relu,Abs --written --json " + json + options);
    EXPECT_EQ(ran.code, 0) << ran.text;
    std::vector<std::string> found;
    std::istringstream lines(textOf(json));
    for (std::string line; std::getline(lines, line);) {
      Json record = Json::parse(line);
      if (record.value("record", "") != "case") continue;
      for (const char* own : {"run", "common", "durationNs", "time"}) record.erase(own);
      found.push_back(record.dump());
    }
    return found;
  }
};

TEST_F(GuestCommandOrt, ProvidersThatAreNotThereAreSaidInOneLine) {
  expectOneLine(run(cpu() + " --ep nope" + kRelu), "expected a provider out of ");
  expectOneLine(run(cpu() + " --ep OpKitPlanted --ep-library /no/such.so" + kRelu), "cannot read '/no/such.so'");
  expectOneLine(run(cpu() + " --ep OpKitPlanted --ep-library " + ortForTests() + kRelu), "does not load this provider");
  expectOneLine(run(cpu() + " --ep-option a=b" + kRelu), "has no settings, got a");
  EXPECT_EQ(run(cpu() + " --ep CPUExecutionProvider" + kRelu).code, 0);
}

TEST_F(GuestCommandOrt, WrongNamesOfCasesAreSaidInOneLine) {
  expectOneLine(run(cpu() + " --op Nope"), "no such operator");
  expectOneLine(run(cpu() + " --case 'Nope/f32[3]/normal/seed=7'"), "unknown operator 'Nope'");
  expectOneLine(run(cpu() + " --cases " + fileWith("check_guest.cases.json", "{")), "the JSON ends too early");
}

TEST_F(GuestCommandOrt, AnOpsetThatTheEngineDoesNotKnowIsSaidInOneLine) {
  expectOneLine(run(cpu() + " --opset 900" + kRelu), "knows opsets up to ");
}

TEST_F(GuestCommandOrt, TheRepeatLineKeepsTheOpset) {
  const Ran ran = run(faulty("tail") + "--opset 13 --case 'Relu/f32[3,5]/normal/seed=7'");
  EXPECT_EQ(ran.code, 1) << ran.text;
  const size_t begin = ran.text.find("repeat   op-harness ");
  ASSERT_NE(begin, std::string::npos) << ran.text;
  const std::string line = ran.text.substr(begin + 20, ran.text.find('\n', begin) - begin - 20);
  EXPECT_NE(line.find(" --opset 13 "), std::string::npos) << line;
  const Ran again = run(line);
  EXPECT_EQ(again.code, 1) << line << "\n" << again.text;
  expectPart(again, "(1.");  // the kernel: version and form
}

TEST_F(GuestCommandOrt, WhatCannotBeSavedLosesNoResult) {
  const std::string junit = testing::TempDir() + "check_guest.xml";
  fs::remove(junit);
  const Ran ran = run(faulty("tail") + "--case 'Relu/f32[3,5]/normal/seed=7' --save /proc/none --junit " + junit);
  EXPECT_EQ(ran.code, 2) << ran.text;
  expectPart(ran, "FAIL: 1 fail");
  expectPart(ran, "op-harness: --save: cannot make the folder '/proc/none'");
  EXPECT_TRUE(fs::exists(junit));
}

TEST_F(GuestCommandOrt, WhyNothingRanIsSaid) {
  const auto expectNothing = [](const std::string& options, const std::string& why) {
    const Ran ran = run(cpu() + options);
    EXPECT_EQ(ran.code, 3) << ran.text;
    expectPart(ran, "op-harness: nothing was executed: " + why);
  };
  expectNothing(" --op Relu --filter 'no such case'", "no case was selected");
  expectNothing(" --opset 1 --case 'AttentionScores/f32[1,1,2,4],f32[1,1,3,4]/normal/seed=7'",
                "none of these cases has a form in ONNX that the provider claims");
  const fs::path folder = emptyFolder("check_guest_skips");
  fileWith("check_guest_skips/onnxruntime-cpu.skips", "Relu/* | not now\n");
  expectNothing(" --expectations " + folder.string() + kRelu, "the specification or expectation files leave");
}

TEST_F(GuestCommandOrt, AnInterruptIsNotCalledNothing) {
  const std::string json = fileWith("check_guest_interrupt.jsonl", "");
  for (const int signal : {SIGINT, SIGTERM}) {
    const Ran ran = runUntil(faulty("hang") + "--case 'Softmax/f32[2,3,8]/normal/seed=7' --json " + json, json,
                             "\"record\":\"device\"", signal);
    EXPECT_EQ(ran.code, 128 + signal) << ran.text;
    expectPart(ran, "interrupted: 0 of 1 cases have a result");
    EXPECT_EQ(ran.text.find("nothing was executed"), std::string::npos) << ran.text;
    EXPECT_EQ(ran.text.find("left behind"), std::string::npos) << ran.text;
    fs::remove(json);
  }
}

TEST_F(GuestCommandOrt, EveryCaseOfAnOperatorThatHangsHasAResult) {
  const std::string cases = fileWith("check_guest_hangs.cases.json", R"({"cases": [
    {"op": "Softmax", "inputs": [["f32[1,2,8]"], ["f32[2,2,8]"]]}, {"op": "Softmax", "inputs": [["f32[1,2,16]"]]},
    {"op": "Softmax", "params": {"axis": 1}, "inputs": [["f32[1,8,2]"], ["f32[2,8,2]"]]},
    {"op": "Softmax", "params": {"axis": 0}, "inputs": [["f32[8,1,2]"], ["f32[8,2,2]"]]},
    {"op": "Softmax", "params": {"axis": 2}, "inputs": [["f32[1,8,4]"], ["f32[2,8,4]"]]},
    {"op": "Softmax", "params": {"axis": -2}, "inputs": [["f32[1,8,6]"], ["f32[2,8,6]"]]}]})");
  const Ran ran = run(faulty("hang") + "--timeout 0.5 --jobs 2 --cases " + cases);
  EXPECT_EQ(ran.code, 1) << ran.text;
  expectPart(ran, "its group hangs, as others of the operator do");
  EXPECT_EQ(ran.text.find("cases have a result"), std::string::npos) << ran.text;
}

TEST_F(GuestCommandOrt, AnnotationsNameTheCaseFile) {
  const Ran ran = run(faulty("tail") + "--annotations --case 'Relu/f32[3,5]/normal/seed=7'");
  expectPart(ran, "::error file=ops/unary/unary.cases.json,title=Relu on onnxruntime-opkitplanted::Relu/f32[3,5]");
}

TEST_F(GuestCommandOrt, LinesOfPassesEndWithoutASpace) {
  const Ran ran = run(cpu() + " --verbose" + kRelu);
  expectPart(ran, "pass Relu/f32[3,4]/normal/seed=7\n");
}

TEST_F(GuestCommandOrt, NoTemporaryFileIsLeft) {
  const fs::path folder = emptyFolder("check_guest_room");
  EXPECT_EQ(runIn(folder, cpu() + kRelu).code, 0);
  EXPECT_TRUE(fs::is_empty(folder));
  EXPECT_EQ(runIn(folder, "bench --ort " + ortForTests() + kRelu).code, 0);
  EXPECT_TRUE(fs::is_empty(folder));
}

TEST_F(GuestCommandOrt, AClosedPipeLeavesNothing) {
  const fs::path folder = emptyFolder("check_guest_pipe");
  for (const std::string& command :
       {cpu() + " --op Relu --written --verbose", "bench --ort " + ortForTests() + kRelu}) {
    const Ran ran = runIn(folder, command + " 2>/dev/null | head -n 1");
    EXPECT_TRUE(fs::is_empty(folder)) << command << ": " << ran.text;
  }
}

TEST_F(GuestCommandOrt, AClosedPipeKeepsResults) {
  const std::string json = fileWith("check_guest_pipe.jsonl", "");
  run(cpu() + " --op Relu,Abs --written --verbose --json " + json +
      " 2>/dev/null | head -n 4");  // the head of two lines, two cases
  EXPECT_NE(textOf(json).find("\"record\":\"case\""), std::string::npos) << textOf(json);
  EXPECT_NE(textOf(json).find("\"outcome\":\"interrupted\""), std::string::npos) << textOf(json);
}

TEST_F(GuestCommandOrt, WorkersAndPartsGiveTheSameRecords) {
  const std::vector<std::string> whole = records(" --jobs 1");
  EXPECT_GT(whole.size(), 10u);
  EXPECT_EQ(records(" --jobs 8"), whole);
  std::multiset<std::string> parts;
  for (const char* part : {" --shard 1/2", " --shard 2/2"})
    for (const std::string& record : records(part)) parts.insert(record);
  EXPECT_EQ(parts, std::multiset<std::string>(whole.begin(), whole.end()));
}

TEST_F(GuestCommandOrt, KnownFailuresAreExpected) {
  const std::string folder = emptyFolder("check_guest_expected").string();
  const std::string relu = "--case 'Relu/f32[3,5]/normal/seed=7' ";
  EXPECT_EQ(run(faulty("tail") + relu + "--emit-expectations " + folder).code, 1);
  const Ran known = run(faulty("tail") + relu + "--expectations " + folder);
  EXPECT_EQ(known.code, 0) << known.text;
  expectPart(known, "ok: 1 expected");
  const Ran passes = run(faulty("prints") + relu + "--expectations " + folder);
  EXPECT_EQ(passes.code, 1) << passes.text;
  expectPart(passes, "expected to fail, but passes: delete the line");
  fileWith("check_guest_expected/onnxruntime-opkitplanted.fails", "nonsense\n");
  expectOneLine(run(faulty("tail") + relu + "--expectations " + folder), "onnxruntime-opkitplanted.fails:1: ");
}

}  // namespace
}  // namespace opkit::harness
